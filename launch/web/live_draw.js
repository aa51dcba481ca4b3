// SPDX-License-Identifier: Apache-2.0
// What the live page draws with: elements whose texts are only ever texts, figures for people, and
// curves as SVG. Nothing here knows what a job is.

export function element(name, options = {}, children = []) {
    const made = document.createElement(name);
    if (options.class) made.className = options.class;
    if (options.text !== undefined) made.textContent = options.text;
    for (const [key, value] of Object.entries(options.data ?? {})) made.dataset[key] = value;
    for (const [key, value] of Object.entries(options.set ?? {})) made.setAttribute(key, value);
    made.append(...children);
    return made;
}

// A text is set only where it differs, so that a selection of the reader's stays.
export function say(node, text) {
    if (node.textContent !== text) node.textContent = text;
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

export function bytes(value) {
    let unit = 0;
    while (Math.abs(value) >= 1024 && unit < UNITS.length - 1) {
        value /= 1024;
        unit++;
    }
    return `${unit === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

export function number(value) {
    if (!Number.isFinite(value)) return 'not known';
    if (Number.isInteger(value)) return value.toLocaleString('en');
    return Math.abs(value) >= 100 ? value.toFixed(0) : Number(value.toPrecision(4)).toString();
}

export function seconds(value) {
    const whole = Math.floor(value);
    const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
    return parts.map((part, at) => (at === 0 ? part : String(part).padStart(2, '0'))).join(':');
}

export function clock(timeMs) {
    const at = new Date(timeMs);
    return [at.getHours(), at.getMinutes(), at.getSeconds()]
        .map((part) => String(part).padStart(2, '0')).join(':');
}

const SVG = 'http://www.w3.org/2000/svg';
const WIDTH = 300;
const HEIGHT = 80;
const POINTS_MAX = 600; // more than a card has pixels

function shape(name, attributes) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
}

// Every n-th point, and the last one.
function thinned(points) {
    const step = Math.ceil(points.length / POINTS_MAX);
    return points.filter((point, at) => at % step === 0 || at === points.length - 1);
}

// A curve in a card. points: [time in ms, value or null] in the order of time; a null is a gap.
export class Curve {
    constructor(title, format) {
        this.title = title;
        this.format = format;
        this.value = element('span', { class: 'value' });
        this.low = element('span');
        this.high = element('span');
        this.path = shape('path', {});
        this.svg = shape('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', preserveAspectRatio: 'none' });
        this.svg.append(shape('line', { x1: 0, x2: WIDTH, y1: HEIGHT - 0.5, y2: HEIGHT - 0.5 }), this.path);
        this.figure = element('figure', { class: 'card' }, [
            element('figcaption', {}, [element('span', { text: title }), this.value]),
            this.svg,
            element('div', { class: 'range' }, [this.low, this.high]),
        ]);
    }

    draw(points) {
        const known = points.filter((point) => point[1] !== null);
        this.figure.hidden = known.length === 0;
        if (known.length === 0) return;
        const values = known.map((point) => point[1]);
        const low = values.reduce((a, b) => Math.min(a, b));
        const high = values.reduce((a, b) => Math.max(a, b));
        const last = values[values.length - 1];
        const begin = points[0][0];
        const span = Math.max(points[points.length - 1][0] - begin, 1);
        const range = high > low ? high - low : 1;
        let path = '';
        let pen = 'M';
        for (const [time, value] of thinned(points)) {
            if (value === null) {
                pen = 'M';
                continue;
            }
            const x = ((time - begin) / span) * WIDTH;
            const y = HEIGHT - 4 - ((value - low) / range) * (HEIGHT - 8);
            path += `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
            pen = 'L';
        }
        this.path.setAttribute('d', path);
        say(this.value, this.format(last));
        say(this.low, `least ${this.format(low)}`);
        say(this.high, `most ${this.format(high)}`);
        this.figure.dataset.last = last;
        this.figure.dataset.points = known.length;
        this.svg.setAttribute('aria-label', `${this.title}, ${clock(begin)} to ` +
            `${clock(points[points.length - 1][0])}: now ${this.format(last)}, ` +
            `least ${this.format(low)}, most ${this.format(high)}`);
    }
}
