/* SPDX-License-Identifier: Apache-2.0 */
/*
 * troupe._core: what cffi does badly.
 *
 * - Handle owns one object of the library (a session, a graph, a batch) and releases it when the
 *   last reference goes, on whatever thread.
 * - View is a piece of an object's memory as an array: by the buffer protocol, and by DLPack, whose
 *   consumer may drop it on a thread that knows nothing of Python. So what keeps the memory is not
 *   a Python object but a counted owner, and the deleter of a capsule is C alone.
 * - call() runs a blocking function so that a signal ends it at once: the thread waits in C without
 *   the interpreter, where Python's own handlers, which only note the signal, would not wake it.
 *
 * The module uses the limited API of Python 3.11 alone. It links nothing of ours: what it calls
 * comes as addresses, which the cffi modules know.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Dimensions of a view: a row of a table has at most 4, and there is one of rows. */
#define VIEW_NDIM_MAX 5

/*
 * The owner of a piece of memory: handles, views and capsules have a reference each.
 */
struct owner {
    atomic_size_t references;
    void *object;
    void (*release)(void *object);
};

static struct owner *owner_acquire(struct owner *owner)
{
    if (owner != NULL)
        atomic_fetch_add_explicit(&owner->references, 1, memory_order_relaxed);
    return owner;
}

/* Any thread, with the interpreter or without. */
static void owner_release(struct owner *owner)
{
    if (owner == NULL ||
        atomic_fetch_sub_explicit(&owner->references, 1, memory_order_acq_rel) != 1)
        return;
    owner->release(owner->object);
    free(owner);
}

/* The same of a thread that runs Python: closing a session waits for its actors. */
static void owner_release_unlocked(struct owner *owner)
{
    if (owner == NULL)
        return;
    Py_BEGIN_ALLOW_THREADS;
    owner_release(owner);
    Py_END_ALLOW_THREADS;
}

struct module_state {
    PyTypeObject *handle_type;
    PyTypeObject *view_type;
};

/*
 * Handle(address, release): takes the object over.
 */
struct handle {
    PyObject_HEAD struct owner *owner; /* NULL: closed */
};

static PyObject *handle_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    unsigned long long object, release;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "KK:Handle", &object, &release))
        return NULL;
    struct owner *owner = malloc(sizeof *owner);
    if (owner == NULL)
        return PyErr_NoMemory();
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct handle *self = (struct handle *)allocate(type, 0);
    if (self == NULL) {
        free(owner);
        return NULL;
    }
    atomic_init(&owner->references, 1);
    owner->object = (void *)(uintptr_t)object;
    owner->release = (void (*)(void *))(uintptr_t)release;
    self->owner = owner;
    return (PyObject *)self;
}

static void handle_dealloc(struct handle *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    struct owner *owner = self->owner;
    self->owner = NULL;
    release(self);
    Py_DECREF(type);
    owner_release_unlocked(owner);
}

static PyObject *handle_address(struct handle *self, void *closure)
{
    (void)closure;
    return PyLong_FromVoidPtr(self->owner == NULL ? NULL : self->owner->object);
}

static PyGetSetDef handle_fields[] = {
    { "address", (getter)handle_address, NULL, "Address of the object.", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static char handle_doc[] =
    "Owns one object of the library, and releases it with the last reference.";
static PyType_Slot handle_slots[] = {
    { Py_tp_new, handle_new },
    { Py_tp_dealloc, handle_dealloc },
    { Py_tp_getset, handle_fields },
    { Py_tp_doc, handle_doc },
    { 0, NULL },
};
static PyType_Spec handle_spec = { "troupe._core.Handle", sizeof(struct handle), 0,
                                   Py_TPFLAGS_DEFAULT, handle_slots };

/*
 * DLPack (https://dmlc.github.io/dlpack/latest/), written down from its specification: the unversioned
 * struct, which every consumer takes, and that of version 1, which says that memory is read-only.
 */
enum { DLPACK_CPU = 1, DLPACK_READ_ONLY = 1 };
enum { DLPACK_INT = 0, DLPACK_UINT = 1, DLPACK_FLOAT = 2, DLPACK_BFLOAT = 4 };

struct dlpack_tensor {
    void *data;
    struct {
        int32_t type, id;
    } device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
};

struct dlpack_managed {
    struct dlpack_tensor tensor;
    void *context;
    void (*deleter)(struct dlpack_managed *self);
};

struct dlpack_versioned {
    struct {
        uint32_t major, minor;
    } version;
    void *context;
    void (*deleter)(struct dlpack_versioned *self);
    uint64_t flags;
    struct dlpack_tensor tensor;
};

/* What a capsule has, in one piece of memory. */
struct exported {
    union {
        struct dlpack_managed managed;
        struct dlpack_versioned versioned;
    } as;
    struct owner *owner;
    int64_t shape[VIEW_NDIM_MAX], strides[VIEW_NDIM_MAX];
};

/* The element types, by the names of NumPy; "bfloat16", which has none, is 16 bits to a buffer.
 * DLPack's own booleans are younger than PyTorch 1.13, so those go as bytes. */
static struct element {
    const char *name;
    char format[2];
    uint8_t code, bytes;
} elements[] = {
    { "float32", "f", DLPACK_FLOAT, 4 },   { "float16", "e", DLPACK_FLOAT, 2 },
    { "bfloat16", "H", DLPACK_BFLOAT, 2 }, { "float64", "d", DLPACK_FLOAT, 8 },
    { "int8", "b", DLPACK_INT, 1 },        { "uint8", "B", DLPACK_UINT, 1 },
    { "int16", "h", DLPACK_INT, 2 },       { "int32", "i", DLPACK_INT, 4 },
    { "int64", "q", DLPACK_INT, 8 },       { "bool", "?", DLPACK_UINT, 1 },
    { "uint32", "I", DLPACK_UINT, 4 },     { "uint64", "Q", DLPACK_UINT, 8 },
};

static struct element *element_named(const char *name)
{
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (strcmp(elements[i].name, name) == 0)
            return &elements[i];
    PyErr_Format(PyExc_ValueError, "%s names no element type", name);
    return NULL;
}

/*
 * View(handle, address, dtype, shape, writable): memory of the handle's object, row-major.
 */
struct view {
    PyObject_HEAD struct owner *owner;
    void *data;
    struct element *element;
    bool writable;
    int ndim;
    Py_ssize_t bytes;
    Py_ssize_t shape[VIEW_NDIM_MAX], strides[VIEW_NDIM_MAX];
};

/* Strides and bytes of a shape; none of its numbers may overflow. */
static int view_set_shape(struct view *view, PyObject *shape)
{
    Py_ssize_t ndim = PyTuple_Size(shape);
    if (ndim < 0)
        return -1;
    if (ndim > VIEW_NDIM_MAX) {
        PyErr_Format(PyExc_ValueError, "a view has at most %d dimensions", VIEW_NDIM_MAX);
        return -1;
    }
    view->ndim = (int)ndim;
    view->bytes = view->element->bytes;
    for (int d = view->ndim - 1; d >= 0; d--) {
        Py_ssize_t count = PyLong_AsSsize_t(PyTuple_GetItem(shape, d));
        if (count == -1 && PyErr_Occurred() != NULL)
            return -1;
        if (count < 0 || (count > 0 && view->bytes > PY_SSIZE_T_MAX / count)) {
            PyErr_SetString(PyExc_ValueError, "the shape of a view is larger than memory");
            return -1;
        }
        view->shape[d] = count;
        view->strides[d] = view->bytes;
        view->bytes *= count;
    }
    /* Of an array without elements strides say nothing; consumers want them positive. */
    for (int d = 0; d < view->ndim; d++)
        if (view->strides[d] == 0)
            view->strides[d] = view->element->bytes;
    return 0;
}

static PyObject *view_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *handle, *shape;
    unsigned long long address;
    const char *name;
    int writable = 0;
    (void)kwargs;
    struct module_state *state = PyType_GetModuleState(type);
    if (state == NULL || !PyArg_ParseTuple(args, "O!KsO!|p:View", state->handle_type, &handle,
                                           &address, &name, &PyTuple_Type, &shape, &writable))
        return NULL;
    struct element *element = element_named(name);
    if (element == NULL)
        return NULL;
    struct owner *owner = ((struct handle *)handle)->owner;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct view *self = (struct view *)allocate(type, 0);
    if (self == NULL)
        return NULL;
    self->owner = owner_acquire(owner);
    self->data = (void *)(uintptr_t)address;
    self->element = element;
    self->writable = writable != 0;
    if (view_set_shape(self, shape) != 0 || (address == 0 && self->bytes != 0)) {
        if (PyErr_Occurred() == NULL)
            PyErr_SetString(PyExc_ValueError, "a view has no memory");
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static void view_dealloc(struct view *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    struct owner *owner = self->owner;
    release(self);
    Py_DECREF(type);
    owner_release_unlocked(owner);
}

/* The exporter is the view itself: a memoryview or an array holds it, and it holds the owner. */
static int view_buffer(struct view *self, Py_buffer *buffer, int flags)
{
    static char nothing; /* of views without elements */
    if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE && !self->writable) {
        PyErr_SetString(PyExc_BufferError, "the memory is read-only");
        buffer->obj = NULL;
        return -1;
    }
    buffer->buf = self->data != NULL ? self->data : &nothing;
    buffer->obj = Py_NewRef((PyObject *)self);
    buffer->len = self->bytes;
    buffer->readonly = !self->writable;
    buffer->itemsize = self->element->bytes;
    buffer->format = (flags & PyBUF_FORMAT) == PyBUF_FORMAT ? self->element->format : NULL;
    buffer->ndim = self->ndim;
    buffer->shape = (flags & PyBUF_ND) == PyBUF_ND ? self->shape : NULL;
    buffer->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? self->strides : NULL;
    buffer->suboffsets = NULL;
    buffer->internal = NULL;
    return 0;
}

static void exported_free(struct exported *exported)
{
    owner_release(exported->owner);
    free(exported);
}

static void managed_delete(struct dlpack_managed *self)
{
    exported_free(self->context);
}

static void versioned_delete(struct dlpack_versioned *self)
{
    exported_free(self->context);
}

/* A capsule that was consumed has another name. */
static void capsule_delete(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, "dltensor")) {
        struct dlpack_managed *managed = PyCapsule_GetPointer(capsule, "dltensor");
        managed->deleter(managed);
    } else if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        struct dlpack_versioned *versioned = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        versioned->deleter(versioned);
    }
}

static void view_describe(const struct view *self, struct exported *exported,
                          struct dlpack_tensor *tensor)
{
    for (int d = 0; d < self->ndim; d++) {
        exported->shape[d] = self->shape[d];
        exported->strides[d] = self->strides[d] / self->element->bytes;
    }
    tensor->data = self->data;
    tensor->device.type = DLPACK_CPU;
    tensor->ndim = self->ndim;
    tensor->dtype.code = self->element->code;
    tensor->dtype.bits = (uint8_t)(8 * self->element->bytes);
    tensor->dtype.lanes = 1;
    tensor->shape = exported->shape;
    tensor->strides = exported->strides;
}

/* Whether a consumer says that it takes version 1 or newer. */
static int takes_versioned(PyObject *version)
{
    if (version == NULL || version == Py_None)
        return 0;
    PyObject *major = PySequence_GetItem(version, 0);
    long number = major == NULL ? -1 : PyLong_AsLong(major);
    Py_XDECREF(major);
    if (number == -1 && PyErr_Occurred() != NULL)
        return -1;
    return number >= 1;
}

static PyObject *view_dlpack(struct view *self, PyObject *args, PyObject *kwargs)
{
    static char stream_name[] = "stream", version_name[] = "max_version";
    static char device_name[] = "dl_device", copy_name[] = "copy";
    static char *names[] = { stream_name, version_name, device_name, copy_name, NULL };
    PyObject *stream = NULL, *version = NULL, *device = NULL, *copy = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOOO:__dlpack__", names, &stream, &version,
                                     &device, &copy))
        return NULL;
    if (copy == Py_True) {
        PyErr_SetString(PyExc_BufferError, "memory of a batch is not copied: copy the result");
        return NULL;
    }
    int versioned = takes_versioned(version);
    struct exported *exported = versioned < 0 ? NULL : calloc(1, sizeof *exported);
    if (exported == NULL)
        return versioned < 0 ? NULL : PyErr_NoMemory();
    exported->owner = owner_acquire(self->owner);
    PyObject *capsule;
    if (versioned) {
        struct dlpack_versioned *to = &exported->as.versioned;
        to->version.major = 1;
        to->flags = self->writable ? 0 : DLPACK_READ_ONLY;
        to->context = exported;
        to->deleter = versioned_delete;
        view_describe(self, exported, &to->tensor);
        capsule = PyCapsule_New(to, "dltensor_versioned", capsule_delete);
    } else {
        struct dlpack_managed *to = &exported->as.managed;
        to->context = exported;
        to->deleter = managed_delete;
        view_describe(self, exported, &to->tensor);
        capsule = PyCapsule_New(to, "dltensor", capsule_delete);
    }
    if (capsule == NULL)
        exported_free(exported);
    return capsule;
}

static PyObject *view_dlpack_device(struct view *self, PyObject *ignored)
{
    (void)self;
    (void)ignored;
    return Py_BuildValue("(ii)", DLPACK_CPU, 0);
}

static PyObject *view_get_shape(struct view *self, void *closure)
{
    (void)closure;
    PyObject *shape = PyTuple_New(self->ndim);
    for (int d = 0; shape != NULL && d < self->ndim; d++) {
        PyObject *count = PyLong_FromSsize_t(self->shape[d]);
        if (count == NULL || PyTuple_SetItem(shape, d, count) != 0) {
            Py_DECREF(shape);
            return NULL;
        }
    }
    return shape;
}

static PyObject *view_get_dtype(struct view *self, void *closure)
{
    (void)closure;
    return PyUnicode_FromString(self->element->name);
}

static PyObject *view_get_address(struct view *self, void *closure)
{
    (void)closure;
    return PyLong_FromVoidPtr(self->data);
}

static PyMethodDef view_methods[] = {
    { "__dlpack__", (PyCFunction)(void (*)(void))view_dlpack, METH_VARARGS | METH_KEYWORDS,
      "A DLPack capsule of the memory, which keeps it alive." },
    { "__dlpack_device__", (PyCFunction)view_dlpack_device, METH_NOARGS, "(1, 0): the CPU." },
    { NULL, NULL, 0, NULL },
};
static PyGetSetDef view_fields[] = {
    { "shape", (getter)view_get_shape, NULL, "Elements in each dimension.", NULL },
    { "dtype", (getter)view_get_dtype, NULL, "Name of the element type.", NULL },
    { "address", (getter)view_get_address, NULL, "Address of the first element.", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};
static char view_doc[] = "A piece of memory of a handle's object, as an array.";
static PyType_Slot view_slots[] = {
    { Py_tp_new, view_new },
    { Py_tp_dealloc, view_dealloc },
    { Py_tp_methods, view_methods },
    { Py_tp_getset, view_fields },
    { Py_bf_getbuffer, view_buffer },
    { Py_tp_doc, view_doc },
    { 0, NULL },
};
static PyType_Spec view_spec = { "troupe._core.View", sizeof(struct view), 0, Py_TPFLAGS_DEFAULT,
                                 view_slots };

/*
 * Calls that signals end. Python runs its handlers on the main thread between two steps of the
 * interpreter; while that thread is inside a call of ours, these handlers also interrupt what it
 * waits for. One call at a time: handlers are of the process, and only the main thread has them.
 */
static const int watched_signals[] = { SIGINT, SIGTERM, SIGALRM, SIGHUP };
#define WATCHED (sizeof watched_signals / sizeof *watched_signals)

static struct {
    void (*interrupt)(void *object);
    void *_Atomic object;    /* what the main thread waits for; NULL: nothing */
    atomic_bool interrupted; /* this call was, and is not over */
    atomic_ulong interrupts; /* all so far, for calls of other threads on the same object */
    bool installed[WATCHED];
    struct sigaction before[WATCHED]; /* Python's own */
} waiting;

/* Async-signal-safe: notes the signal as Python does, then wakes the wait. */
static void interrupt_wait(int number, siginfo_t *info, void *context)
{
    for (size_t i = 0; i < WATCHED; i++) {
        if (watched_signals[i] != number)
            continue;
        const struct sigaction *before = &waiting.before[i];
        if ((before->sa_flags & SA_SIGINFO) != 0)
            before->sa_sigaction(number, info, context);
        else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN)
            before->sa_handler(number);
    }
    void *object = atomic_load(&waiting.object);
    if (object != NULL) {
        atomic_store(&waiting.interrupted, true);
        atomic_fetch_add(&waiting.interrupts, 1);
        waiting.interrupt(object);
    }
}

/* A signal that has no handler keeps what the system does with it. */
static void watch_signals(void)
{
    for (size_t i = 0; i < WATCHED; i++) {
        struct sigaction *before = &waiting.before[i];
        struct sigaction ours;
        waiting.installed[i] = false;
        if (sigaction(watched_signals[i], NULL, before) != 0)
            continue;
        if ((before->sa_flags & SA_SIGINFO) == 0 &&
            (before->sa_handler == SIG_DFL || before->sa_handler == SIG_IGN))
            continue;
        ours = *before;
        ours.sa_flags |= SA_SIGINFO;
        ours.sa_sigaction = interrupt_wait;
        waiting.installed[i] = sigaction(watched_signals[i], &ours, NULL) == 0;
    }
}

static void unwatch_signals(void)
{
    for (size_t i = 0; i < WATCHED; i++)
        if (waiting.installed[i])
            sigaction(watched_signals[i], &waiting.before[i], NULL);
}

/* call(interrupt, resume, object, function, *args): function(*args), whose wait interrupt(object)
 * ends. resume NULL: an interrupt is for good. Only the main thread calls it. */
static PyObject *core_call(PyObject *module, PyObject *args)
{
    unsigned long long interrupt, resume, object;
    (void)module;
    Py_ssize_t count = PyTuple_Size(args);
    if (count < 4) {
        PyErr_SetString(PyExc_TypeError, "call() takes at least 4 arguments");
        return NULL;
    }
    interrupt = PyLong_AsUnsignedLongLong(PyTuple_GetItem(args, 0));
    resume = PyLong_AsUnsignedLongLong(PyTuple_GetItem(args, 1));
    object = PyLong_AsUnsignedLongLong(PyTuple_GetItem(args, 2));
    if (PyErr_Occurred() != NULL)
        return NULL;
    PyObject *rest = PyTuple_GetSlice(args, 4, count);
    if (rest == NULL)
        return NULL;
    bool nested = atomic_load(&waiting.object) != NULL;
    if (!nested) {
        waiting.interrupt = (void (*)(void *))(uintptr_t)interrupt;
        atomic_store(&waiting.interrupted, false);
        atomic_store(&waiting.object, (void *)(uintptr_t)object);
        watch_signals();
    }
    PyObject *result = PyObject_Call(PyTuple_GetItem(args, 3), rest, NULL);
    Py_DECREF(rest);
    if (!nested) {
        unwatch_signals();
        atomic_store(&waiting.object, NULL);
        if (atomic_load(&waiting.interrupted) && resume != 0)
            ((void (*)(void *))(uintptr_t)resume)((void *)(uintptr_t)object);
        atomic_store(&waiting.interrupted, false);
    }
    return result;
}

static PyObject *core_interrupts(PyObject *module, PyObject *ignored)
{
    (void)module;
    (void)ignored;
    return PyLong_FromUnsignedLong(atomic_load(&waiting.interrupts));
}

static PyObject *core_is_interrupting(PyObject *module, PyObject *ignored)
{
    (void)module;
    (void)ignored;
    return PyBool_FromLong(atomic_load(&waiting.interrupted));
}

static PyMethodDef core_methods[] = {
    { "is_interrupting", core_is_interrupting, METH_NOARGS,
      "Whether a wait was interrupted, and the main thread has not left it yet." },
    { "interrupts", core_interrupts, METH_NOARGS, "How often a signal ended a wait so far." },
    { "call", core_call, METH_VARARGS,
      "call(interrupt, resume, object, function, *args)\n\n"
      "Runs function(*args) on the main thread so that a signal ends its wait at once." },
    { NULL, NULL, 0, NULL },
};

static int core_exec(PyObject *module)
{
    struct module_state *state = PyModule_GetState(module);
    state->handle_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &handle_spec, NULL);
    state->view_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &view_spec, NULL);
    if (state->handle_type == NULL || state->view_type == NULL ||
        PyModule_AddType(module, state->handle_type) != 0 ||
        PyModule_AddType(module, state->view_type) != 0)
        return -1;
    return 0;
}

static int core_traverse(PyObject *module, visitproc visit, void *arg)
{
    struct module_state *state = PyModule_GetState(module);
    Py_VISIT(state->handle_type);
    Py_VISIT(state->view_type);
    return 0;
}

static int core_clear(PyObject *module)
{
    struct module_state *state = PyModule_GetState(module);
    Py_CLEAR(state->handle_type);
    Py_CLEAR(state->view_type);
    return 0;
}

static PyModuleDef_Slot core_slots[] = {
    { Py_mod_exec, core_exec },
#ifdef Py_GIL_DISABLED
    /* Handles and views never change; owners are counted by atomics; calls that signals end are the
     * main thread's. */
    { Py_mod_gil, Py_MOD_GIL_NOT_USED },
#endif
    { 0, NULL },
};

static struct PyModuleDef core_module = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "troupe._core",
    .m_doc = "Handles, views of memory, and calls that signals end.",
    .m_size = sizeof(struct module_state),
    .m_methods = core_methods,
    .m_slots = core_slots,
    .m_traverse = core_traverse,
    .m_clear = core_clear,
};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&core_module);
}
