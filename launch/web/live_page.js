// SPDX-License-Identifier: Apache-2.0
// The live page of a job. The server sends an event each second: the status of the job as
// `troupe status --json` prints it, and rows of figures and notices that are newer than the last
// event. Texts of a job are set as text, never as markup.

import { Curve, bytes, clock, element, number, say, seconds } from './live_draw.js';

const STALE_MS = 5000; // an event comes each second
const ROWS_MAX = 3600;
const NOTICES_MAX = 256;
const EVENTS_MAX = 500;
const BUSIEST_MAX = 20;
const LINES_MAX = 500;
const MATRIX_MAX = 16;
const AGAIN_MS = 5000;

const byId = (id) => document.getElementById(id);

// Curves that are drawn where the server has the column.
const CURVES = [
    ['loss', 'Loss', number],
    ['score', 'Score', number],
    ['seeds_per_second', 'Seeds a second', number],
    ['step', 'Step of the epoch', number],
    ['batches_made_per_second', 'Batches made a second', number],
    ['batches_taken_per_second', 'Batches taken a second', number],
    ['bytes_sent_per_second', 'Bytes sent a second', bytes],
    ['mailbox_messages', 'Messages in mailboxes', number],
    ['mailbox_bytes', 'Bytes in mailboxes', bytes],
    ['queued_bytes', 'Bytes queued on links', bytes],
    ['up', 'Processes up', number],
];

// Fields of a process with a name and a form of their own; others are shown as they come.
const FIELDS = {
    uptime_seconds: ['up for', seconds],
    lag_milliseconds: ['lag ms', number],
    links_up: ['links up', number],
    process_restarts: ['restarts', number],
    restarts: ['of actors', number],
    mailbox_messages: ['mailboxes', number],
    mailbox_messages_max: ['most in one', number],
    mailbox_bytes: ['held', bytes],
    queued_bytes: ['queued', bytes],
    credit_bytes: ['credit', bytes],
    bytes_sent: ['sent', bytes],
    bytes_received: ['received', bytes],
    batches_made: ['made', number],
    batches_taken: ['taken', number],
    rss_bytes: ['memory', bytes],
    cpu_seconds: ['CPU time', seconds],
    cpus: ['CPUs', number],
    seeds_per_second: ['seeds/s', number],
};
// Fields that stand at the beginning of a row, or elsewhere on the page.
const ELSEWHERE = new Set(['process', 'host', 'roles', 'up', 'why', 'links']);
const JOB_ELSEWHERE = new Set(['job', 'era', 'epoch', 'epochs', 'step', 'steps', 'checkpoint', 'score_name', 'processes', 'partitions']);

let columns = [];
let rows = [];
let notices = [];
let events = null; // null: the server follows no history
let lines = null; // null: the server follows no log
let status = null;
let seen = 0;
let lastEventAt = 0;
let source = null;
let connected = false;
let refused = false; // another server is there by now, which does not know this page
let over = false; // the server said that it ends
const curves = new Map();
let linksBefore = new Map(); // by link: bytes sent, when they were seen first, the rate then

function inWords(field) {
    return field.replaceAll('_', ' ');
}

// A figure of which nothing is known but its name.
function anyFigure(field, value) {
    if (typeof value !== 'number') return String(value);
    return /(^|_)bytes(_|$)/.test(field) ? bytes(value) : number(value);
}

function isPlain(value) {
    return ['number', 'string', 'boolean'].includes(typeof value);
}

function setState(state, text) {
    const node = byId('state');
    node.dataset.state = state;
    say(node, text);
}

function noticeText(notice) {
    const who = notice.process === undefined ? '' : `process ${notice.process} (${notice.roles ?? ''} on ${notice.host ?? ''})`;
    switch (notice.what) {
    case 'down': return `${who} does not answer: ${notice.why ?? ''}`;
    case 'up': return `${who} answers again`;
    case 'restarted': return `${who} was started again, as incarnation ${notice.incarnation}`;
    case 'actors restarted': return `${who} started actors again, ${notice.restarts} times by now`;
    case 'era': return `era ${notice.era} began: the job went back to its last checkpoint`;
    case 'checkpoint': return `checkpoint of step ${notice.step}`;
    case 'complete': return 'the job is complete';
    case 'failed': return 'the job has failed';
    case 'stopped': return 'the job was stopped';
    case 'silent': return 'no process answers: the job has ended or was stopped, or cannot be reached';
    default: return inWords(String(notice.what));
    }
}

// An event of the job's history, as troupe-events(5) has them.
function eventText(event) {
    const who = event.process === undefined ? '' : event.role === undefined ? `process ${event.process}`
        : `process ${event.process} (${event.role} on ${event.host ?? ''})`;
    switch (event.event) {
    case 'begun': return `${event.resumed ? 'the job goes on' : 'the job begins'}, by troupe ${event.by ?? ''}` +
        (event.processes === undefined ? '' : ` with ${event.processes} processes`);
    case 'started': return `${who} was started, process number ${event.pid}`;
    case 'failed': return `${who} could not be started: ${event.text ?? ''}`;
    case 'ready': return `${who} has joined the job`;
    case 'kernels': return `${who}: ${event.text ?? ''}`;
    case 'silent': return `${who} is counted as dead by process ${event.by}`;
    case 'stopping': return `${who} was asked to stop`;
    case 'killed': return `${who} was killed by the launcher`;
    case 'ended': return event.signal === undefined ? `${who} ended with exit code ${event.exit_code}`
        : `${who} was ended by signal ${event.signal}`;
    case 'era': return event.step ? `an era began from the checkpoint of step ${event.step}`
        : 'an era began, without a checkpoint';
    case 'checkpoint': return `checkpoint of step ${event.step}`;
    case 'left': return 'the trainers stop behind a checkpoint';
    case 'complete': return 'the result of the job is written';
    case 'finished': return outcomeText(event);
    default: return [inWords(event.event), who, event.text ?? ''].filter((part) => part !== '').join(' ');
    }
}

function outcomeText(event) {
    const words = { complete: 'the job is complete', failed: 'the job has failed', stopped: 'the job was stopped' };
    return (words[event.outcome] ?? 'the job is over') + (event.text === undefined ? '' : `: ${event.text}`);
}

// The event that ended the job; undefined: it has not ended, as far as its history says.
function finish() {
    const last = events?.at(-1);
    return last?.event === 'finished' ? last : undefined;
}

// When the oldest look that is here was taken.
function firstLookAt() {
    return rows.length > 0 ? rows[0][columns.indexOf('time_ms')] : 0;
}

function showState() {
    const end = finish();
    const ended = end === undefined ? undefined : `At ${clock(Date.parse(end.time))} ${outcomeText(end)}.`;
    if (over) {
        setState('ended', `${ended ?? ''} This page is served no more since ${clock(lastEventAt)}: its program ` +
            (ended === undefined ? 'has ended, and maybe the job.' : 'has ended.'));
        return;
    }
    if (refused) {
        setState('lost', `What is shown is of ${clock(lastEventAt)}. Another program serves a page at this ` +
            'address by now: open the URL that it printed.');
        return;
    }
    if (!connected) {
        setState('lost', lastEventAt === 0 ? 'Connecting.'
            : `The connection was lost; trying again. What is shown is of ${clock(lastEventAt)}.`);
        return;
    }
    if (status === null) return;
    const down = status.processes.filter((process) => !process.up).length;
    const last = notices.filter((notice) => notice.what === 'complete' || notice.what === 'silent').pop();
    if (Date.now() - lastEventAt > STALE_MS)
        setState('lost', `No news since ${clock(lastEventAt)}.`);
    else if (down === status.processes.length && ended !== undefined && Date.parse(end.time) < firstLookAt())
        setState('down', `${ended} No process answers since.`); // A job that goes on with a run may be on its way.
    else if (down === status.processes.length && ended !== undefined)
        setState('ended', ended);
    else if (down === status.processes.length && last !== undefined)
        setState('ended', `At ${clock(last.time_ms)} ${noticeText(last)}.`);
    else if (down > 0)
        setState('down', `${down} of ${status.processes.length} processes do not answer.`);
    else
        setState('live', 'All processes answer.');
}

function showNow() {
    const up = status.processes.filter((process) => process.up).length;
    const figures = [
        ['up', 'processes up', `${up} of ${status.processes.length}`, up],
        ['era', 'era', number(status.era), status.era],
        ['epoch', 'epoch', status.epochs ? `${status.epoch} of ${status.epochs}` : number(status.epoch), status.epoch],
        ['step', 'step of the epoch', `${status.step} of ${status.steps}`, status.step],
        ['checkpoint', 'last checkpoint', status.checkpoint === undefined ? 'none' : `step ${status.checkpoint}`,
            status.checkpoint ?? ''],
    ];
    for (const [field, value] of Object.entries(status))
        if (!JOB_ELSEWHERE.has(field) && isPlain(value))
            figures.push([field, field === 'score' ? `${status.score_name} of the validation` : inWords(field),
                field === 'checkpoint_age_seconds' ? seconds(value) : anyFigure(field, value), value]);
    const list = byId('now');
    for (const [field, label, text, value] of figures) {
        let figure = list.querySelector(`dd[data-field="${CSS.escape(field)}"]`);
        if (figure === null) {
            figure = element('dd', { data: { field } });
            list.append(element('div', {}, [element('dt', { text: label }), figure]));
        }
        say(figure, text);
        figure.dataset.value = value;
    }
}

function showCurves() {
    const time = columns.indexOf('time_ms');
    for (const [column, title, format] of CURVES) {
        const at = columns.indexOf(column);
        if (at < 0) continue;
        if (!curves.has(column)) {
            const curve = new Curve(title, format);
            curve.figure.dataset.column = column;
            curves.set(column, curve);
            byId('curves').append(curve.figure);
        }
        curves.get(column).draw(rows.map((row) => [row[time], row[at]]));
    }
}

function wanted(process) {
    if (byId('down-only').checked && process.up) return false;
    const words = byId('words').value.trim().toLowerCase().split(/\s+/).filter((word) => word !== '');
    return words.every((word) => /^\d+$/.test(word) ? process.process === Number(word)
        : process.host.toLowerCase().includes(word) || process.roles.toLowerCase().includes(word));
}

function showHosts(shown) {
    const hosts = new Map();
    for (const process of shown) {
        if (!hosts.has(process.host)) hosts.set(process.host, []);
        hosts.get(process.host).push(process);
    }
    byId('hosts').replaceChildren(...[...hosts].map(([host, processes]) =>
        element('div', { class: 'card', data: { host } }, [
            element('h3', { text: `${host}: ${processes.filter((process) => process.up).length} of ${processes.length} up` }),
            element('ul', {}, processes.map((process) => element('li', {
                class: process.up ? '' : 'down',
                text: `${process.process} ${process.roles}${process.up ? '' : ', down'}`,
                data: { process: process.process, up: process.up },
                set: { title: process.up ? process.roles : process.why },
            }))),
        ])));
}

function showTable(shown) {
    // Processes without a trainer have no loss.
    const fields = [...new Set(status.processes.flatMap((process) => Object.keys(process).filter(
        (field) => !ELSEWHERE.has(field) && isPlain(process[field]))))];
    const head = byId('processes').tHead.rows[0];
    const body = byId('processes').tBodies[0];
    if (head.dataset.fields !== fields.join()) {
        head.dataset.fields = fields.join();
        head.replaceChildren(...['process', 'host', 'roles', 'state'].concat(
            fields.map((field) => FIELDS[field]?.[0] ?? inWords(field)),
        ).map((text, at) => element('th', { text, class: at > 0 && at < 4 ? 'text' : '', set: { scope: 'col' } })));
    }
    body.replaceChildren(...shown.map((process) => element('tr', {
        class: process.up ? '' : 'down', data: { process: process.process },
    }, [
        element('th', { text: process.process, set: { scope: 'row' } }),
        element('td', { class: 'text', text: process.host, data: { field: 'host' } }),
        element('td', { class: 'text', text: process.roles, data: { field: 'roles' } }),
        element('td', { class: 'text', text: process.up ? 'up' : `down: ${process.why}`, data: { field: 'up', value: process.up } }),
        ...fields.map((field) => element('td', {
            text: process[field] === undefined ? ''
                : (FIELDS[field]?.[1] ?? ((value) => anyFigure(field, value)))(process[field]),
            data: { field, value: process[field] ?? '' },
        })),
    ])));
}

function showProcesses() {
    const shown = status.processes.filter(wanted);
    say(byId('shown'), `${shown.length} of ${status.processes.length} shown`);
    showHosts(shown);
    showTable(shown);
}

// A partition whose servers are all down is as good as none.
function showPartitions() {
    const edges = status.partitions.reduce((sum, part) => sum + part.edges, 0);
    byId('parts').tBodies[0].replaceChildren(...status.partitions.map((part) => {
        const servers = part.processes.map((number) => status.processes[number]);
        return element('tr', {
            class: servers.some((process) => process.up) ? '' : 'down',
            data: { partition: part.partition },
        }, [
            element('th', { text: part.partition, set: { scope: 'row' } }),
            element('td', { text: number(part.nodes), data: { field: 'nodes', value: part.nodes } }),
            element('td', { text: number(part.edges), data: { field: 'edges', value: part.edges } }),
            element('td', { text: `${(100 * part.edges / Math.max(edges, 1)).toFixed(1)} %` }),
            element('td', {
                class: 'text',
                text: servers.map((process) => `${process.process} on ${process.host}` +
                    (process.up ? '' : ', down')).join('; '),
                data: { field: 'processes', value: part.processes.join() },
            }),
        ]);
    }));
}

function showNotices() {
    byId('no-notices').hidden = notices.length > 0;
    const list = byId('notices');
    const last = notices.at(-1)?.time_ms ?? 0;
    // Of one look there may be several, which come in one event.
    if (list.dataset.last === String(last)) return;
    list.dataset.last = last;
    list.replaceChildren(...notices.slice().reverse().map((notice) => element('li', { data: { what: notice.what } }, [
        element('time', { text: clock(notice.time_ms), set: { datetime: new Date(notice.time_ms).toISOString() } }),
        element('span', { text: noticeText(notice) }),
    ])));
}

function showEvents() {
    byId('events-section').hidden = false;
    byId('no-events').hidden = events.length > 0;
    byId('events').replaceChildren(...events.slice().reverse().map((event) => element('li', {
        data: { event: event.event, process: event.process ?? '' },
    }, [
        element('time', { text: clock(Date.parse(event.time)), set: { datetime: event.time } }),
        element('span', { text: eventText(event) }),
    ])));
}

// The region stays where its reader is, or at the end.
function showLines() {
    const region = byId('lines-region');
    const atEnd = region.scrollHeight - region.scrollTop - region.clientHeight < 8;
    byId('lines-section').hidden = false;
    byId('lines').replaceChildren(...lines.map((text) => element('li', { text })));
    if (atEnd) region.scrollTop = region.scrollHeight;
}

// Who sends how much to whom: each end tells of its own sending. Rates are since the event before.
function linkRates() {
    const rates = [];
    const now = new Map();
    for (const process of status.processes)
        for (const link of process.links ?? []) {
            if (link.process >= status.processes.length) continue; // an observer
            const key = `${process.process}>${link.process}>${process.incarnation}`;
            const sent = link.bytes_sent;
            // What the process said last stays while it says nothing new.
            const before = linksBefore.get(key) ?? { sent, at: lastEventAt, rate: 0 };
            const rate = sent === before.sent && lastEventAt - before.at < 2500 ? before.rate
                : Math.max(sent - before.sent, 0) / Math.max((lastEventAt - before.at) / 1000, 0.5);
            now.set(key, sent === before.sent ? { ...before, rate } : { sent, at: lastEventAt, rate });
            rates.push({ from: process, to: status.processes[link.process], rate, sent });
        }
    linksBefore = now;
    return rates;
}

function showMatrix(rates) {
    const hosts = [...new Set(status.processes.map((process) => process.host))];
    byId('matrix-region').hidden = hosts.length < 2 || hosts.length > MATRIX_MAX;
    if (byId('matrix-region').hidden) return;
    const sums = new Map();
    for (const { from, to, rate } of rates) {
        const key = JSON.stringify([from.host, to.host]);
        sums.set(key, (sums.get(key) ?? 0) + rate);
    }
    byId('matrix').tHead.rows[0].replaceChildren(
        element('th', { text: 'from', set: { scope: 'col' } }),
        ...hosts.map((host) => element('th', { text: host, set: { scope: 'col' } })));
    byId('matrix').tBodies[0].replaceChildren(...hosts.map((from) => element('tr', {}, [
        element('th', { text: from, set: { scope: 'row' } }),
        ...hosts.map((to) => element('td', { text: bytes(sums.get(JSON.stringify([from, to])) ?? 0) })),
    ])));
}

function showLinks() {
    const rates = linkRates();
    byId('links-section').hidden = rates.length === 0;
    if (rates.length === 0) return;
    const name = (process) => `${process.process} ${process.roles} on ${process.host}`;
    showMatrix(rates);
    rates.sort((a, b) => b.rate - a.rate || b.sent - a.sent);
    byId('busiest').tBodies[0].replaceChildren(...rates.slice(0, BUSIEST_MAX).map(({ from, to, rate, sent }) =>
        element('tr', { data: { from: from.process, to: to.process } }, [
            element('td', { class: 'text', text: name(from) }),
            element('td', { class: 'text', text: name(to) }),
            element('td', { text: bytes(rate) }),
            element('td', { text: bytes(sent), data: { value: sent } }),
        ])));
}

function show() {
    showState();
    if (status === null) return;
    say(byId('job'), status.job);
    const title = `${status.job}: epoch ${status.epoch}, step ${status.step}`;
    if (document.title !== title) document.title = title;
    showNow();
    showCurves();
    showProcesses();
    showPartitions();
    showLinks();
    showNotices();
}

// Of checkpoints in a row the last one is shown, as the server keeps it.
function addNotice(notice) {
    if (notice.what === 'checkpoint' && notices.at(-1)?.what === 'checkpoint') notices.pop();
    notices.push(notice);
    if (notices.length > NOTICES_MAX) notices.shift();
}

function addEvent(event) {
    if (event.event === 'checkpoint' && events.at(-1)?.event === 'checkpoint') events.pop();
    events.push(event);
    if (events.length > EVENTS_MAX) events.shift();
}

function take(event) {
    const data = JSON.parse(event.data);
    const id = Number(event.lastEventId);
    // A server that was started again counts anew.
    if (id < seen || columns.join() !== data.columns.join()) {
        rows = [];
        notices = [];
        events = null;
        lines = null;
    }
    seen = id;
    columns = data.columns;
    rows = rows.concat(data.rows).slice(-ROWS_MAX);
    for (const notice of data.notices) addNotice(notice);
    if (data.events !== undefined) {
        const isNew = events === null || data.events.length > 0;
        events ??= [];
        data.events.forEach(addEvent);
        if (isNew) showEvents();
    }
    if (data.lines !== undefined) lines = (lines ?? []).concat(data.lines).slice(-LINES_MAX);
    if (data.lines?.length > 0) showLines();
    status = data.status;
    lastEventAt = Date.now();
    connected = true;
    refused = false;
    show();
}

// Why a stream was refused, which its error does not tell.
async function askWhy() {
    try {
        refused = [401, 403].includes((await fetch('/status.json')).status);
    } catch {
        refused = false;
    }
    showState();
}

function connect() {
    source = new EventSource(`/events?seen=${seen}`);
    source.addEventListener('look', take);
    source.addEventListener('end', () => {
        over = true;
        source.close();
        showState();
    });
    source.addEventListener('error', () => {
        connected = false;
        showState();
        // The browser tries again by itself, but not after an answer that refuses.
        if (source.readyState !== EventSource.CLOSED) return;
        askWhy();
        setTimeout(connect, AGAIN_MS);
    });
}

byId('filter').addEventListener('submit', (event) => event.preventDefault());
byId('filter').addEventListener('input', () => status !== null && showProcesses());
setInterval(showState, 1000);
connect();
