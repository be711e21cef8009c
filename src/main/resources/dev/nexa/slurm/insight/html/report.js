'use strict';
(() => {
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const DASH = '\u2013';
  const ROWS_OF_PAGE = 100;

  /** Makes an element. Text is only ever set as text, so that no name can become markup. */
  const make = (name, options = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(options)) {
      if (key === 'text') element.textContent = value;
      else if (value === true) element.setAttribute(key, '');
      else if (value !== false && value !== undefined) element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
  };

  /* Numbers and times, in the form of Figures.java. */
  const pad = (number) => String(number).padStart(2, '0');
  const grouped = (number, digits) =>
    number.toLocaleString('en-US', {minimumFractionDigits: digits, maximumFractionDigits: digits});
  const duration = (s) =>
    s < 60 ? s + 's'
      : s < 3600 ? Math.floor(s / 60) + 'm ' + pad(s % 60) + 's'
      : s < 86400 ? Math.floor(s / 3600) + 'h ' + pad(Math.floor(s % 3600 / 60)) + 'm'
      : Math.floor(s / 86400) + 'd ' + pad(Math.floor(s % 86400 / 3600)) + 'h';
  const hours = (s) => grouped(s / 3600, s > 0 && s < 360 ? 4 : 1);
  const time = (s) => new Date(s * 1000).toISOString().slice(0, 16).replace('T', ' ');
  const GOOD = ['completed'];
  const ACTIVE = ['running', 'completing', 'pending', 'queued', 'unconfirmed', 'requeued', 'suspended'];
  const tone = (state) => GOOD.includes(state) ? 'good' : ACTIVE.includes(state) ? 'active'
    : state === 'cancelled' || state === '' ? 'quiet' : 'bad';

  const digitsOf = (data, row) => {
    const currency = data.columns.currency;
    return currency ? data.digits[currency.words[currency.at[row]]] ?? 2 : 2;
  };
  const show = (data, kind, value, row) => {
    if (value === null || value === undefined || value === '') return DASH;
    switch (kind) {
      case 'money': return grouped(value / 10 ** digitsOf(data, row), digitsOf(data, row));
      case 'micro': return grouped(value / 1e6, 6);
      case 'hours': return hours(value);
      case 'count': return grouped(value, 0);
      case 'duration': return duration(value);
      case 'time': return time(value);
      default: return String(value);
    }
  };
  const isNumber = (kind) => ['money', 'micro', 'hours', 'count', 'duration'].includes(kind);
  const valueOf = (column, row) => column.words ? column.words[column.at[row]] : column.values[row];

  /** A table whose rows come from a JSON element: it can be sorted, searched, filtered and paged. */
  class DataTable {
    constructor(table) {
      this.table = table;
      this.head = [...table.querySelectorAll('thead th')];
      const source = byId(table.dataset.rows);
      this.data = JSON.parse(source.textContent);
      source.remove();
      this.page = 0;
      this.sorted = null;
      this.order = Uint32Array.from({length: this.data.rows}, (_, i) => i);
      this.shown = this.order;
      this.filters = {};
      this.words = '';
      this.addControls();
      this.addSorting();
      this.render();
    }

    addControls() {
      const form = make('form', {class: 'controls', role: 'search', 'aria-label': 'Filter ' + this.table.dataset.name});
      form.addEventListener('submit', (event) => event.preventDefault());
      this.search = make('input', {type: 'search', autocomplete: 'off', spellcheck: 'false',
        id: this.table.id + '-search', placeholder: 'name, id, user, model …'});
      this.search.addEventListener('input', () => {
        clearTimeout(this.typing);
        this.typing = setTimeout(() => this.filter(), 120);
      });
      form.append(make('label', {text: 'Search'}, this.search));
      this.selects = {};
      for (const pair of (this.table.dataset.filters ?? '').split(' ').filter(Boolean)) {
        const [name, label] = pair.split(':');
        const column = this.data.columns[name];
        if (!column || column.words.length < 2) continue;
        const select = make('select', {id: this.table.id + '-' + name},
          make('option', {value: '', text: 'all'}));
        column.words.map((word, index) => [word, index])
          .sort((a, b) => (name === 'month' ? -1 : 1) * (a[0] < b[0] ? -1 : 1))
          .forEach(([word, index]) =>
            select.append(make('option', {value: String(index), text: word === '' ? '(none)' : word})));
        select.addEventListener('change', () => this.filter());
        this.selects[name] = select;
        form.append(make('label', {text: label}, select));
      }
      const clear = make('button', {type: 'button', text: 'Clear'});
      clear.addEventListener('click', () => {
        this.search.value = '';
        Object.values(this.selects).forEach((select) => { select.value = ''; });
        this.filter();
        this.search.focus();
      });
      form.append(clear);
      this.count = make('p', {class: 'count', role: 'status'});
      const back = make('button', {type: 'button', text: '‹ Previous'});
      const next = make('button', {type: 'button', text: 'Next ›'});
      back.addEventListener('click', () => this.turn(-1));
      next.addEventListener('click', () => this.turn(1));
      this.back = back;
      this.next = next;
      this.pager = make('nav', {class: 'pager', 'aria-label': 'Pages of ' + this.table.dataset.name}, back, next);
      const host = this.table.closest('.scroll') ?? this.table;
      host.before(form, this.count);
      host.after(this.pager);
      host.parentElement.querySelectorAll('.static-note').forEach((note) => note.remove());
    }

    addSorting() {
      this.head.forEach((cell) => {
        const button = make('button', {type: 'button', class: 'sort', text: cell.textContent});
        button.addEventListener('click', () => this.sort(cell));
        cell.textContent = '';
        cell.append(button);
      });
    }

    /** Keys that sort a column: numbers as they are, words by their rank. */
    keys(name) {
      const column = this.data.columns[name];
      if (!column.words) return column.values;
      const rank = new Int32Array(column.words.length);
      column.words.map((word, index) => index)
        .sort((a, b) => column.words[a] < column.words[b] ? -1 : 1)
        .forEach((index, place) => { rank[index] = place; });
      return column.at.map((index) => rank[index]);
    }

    sort(cell) {
      const name = cell.dataset.column;
      const numeric = isNumber(cell.dataset.kind) || cell.dataset.kind === 'time';
      const down = this.sorted === name ? !this.down : numeric;
      this.sorted = name;
      this.down = down;
      const keys = this.keys(name);
      const sign = down ? -1 : 1;
      const missing = (value) => value === null || value === undefined;
      this.order = Uint32Array.from({length: this.data.rows}, (_, i) => i).sort((a, b) => {
        const x = keys[a];
        const y = keys[b];
        if (missing(x) || missing(y)) return missing(x) - missing(y) || a - b;
        return x < y ? -sign : x > y ? sign : a - b;
      });
      this.head.forEach((other) => other.removeAttribute('aria-sort'));
      cell.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      this.filter();
    }

    filter() {
      const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const columns = this.table.dataset.search.split(' ').map((name) => this.data.columns[name]).filter(Boolean);
      const tests = words.map((word) => columns.map((column) => {
        if (!column.words) return (row) => String(column.values[row] ?? '').toLowerCase().includes(word);
        const hits = column.words.map((text) => text.toLowerCase().includes(word));
        return (row) => hits[column.at[row]];
      }));
      const chosen = Object.entries(this.selects).filter(([, select]) => select.value !== '')
        .map(([name, select]) => [this.data.columns[name].at, Number(select.value)]);
      this.shown = tests.length + chosen.length === 0 ? this.order : this.order.filter((row) =>
        chosen.every(([at, value]) => at[row] === value)
        && tests.every((any) => any.some((test) => test(row))));
      this.page = 0;
      this.render();
      this.remember();
    }

    /** Keeps the filters in the address, so that Back finds them. */
    remember() {
      const [id] = location.hash.slice(1).split('?');
      if (this.table.closest('section').id !== id) return;
      const query = new URLSearchParams();
      if (this.search.value) query.set('search', this.search.value);
      for (const [name, select] of Object.entries(this.selects)) {
        if (select.value) query.set(name, this.data.columns[name].words[Number(select.value)]);
      }
      history.replaceState(null, '', '#' + id + (String(query) && '?' + query));
    }

    turn(step) {
      this.page += step;
      this.render();
      this.table.closest('.scroll').scrollTop = 0;
      this.count.scrollIntoView({block: 'nearest'});
    }

    /** Chooses the filters that a link names: #runs?user=alice&state=failed. */
    choose(query) {
      const wanted = new URLSearchParams(query);
      this.search.value = wanted.get('search') ?? '';
      for (const [name, select] of Object.entries(this.selects)) {
        const index = wanted.has(name) ? this.data.columns[name].words.indexOf(wanted.get(name)) : -1;
        select.value = index < 0 ? '' : String(index);
      }
      this.filter();
    }

    cell(head, row) {
      const kind = head.dataset.kind;
      const value = valueOf(this.data.columns[head.dataset.column], row);
      const text = show(this.data, kind, value, row);
      if (kind === 'run') {
        const name = this.data.columns.name ? valueOf(this.data.columns.name, row) : '';
        return make('th', {scope: 'row'}, make('a', {href: '#run/' + value, text: value}),
          ...(name ? [make('span', {class: 'name', text: name})] : []));
      }
      if (kind === 'state') return make('td', {}, make('span', {class: 'state ' + tone(value), text}));
      return make('td', isNumber(kind) || kind === 'time' ? {class: 'n', text} : {text});
    }

    render() {
      const from = this.page * ROWS_OF_PAGE;
      const to = Math.min(from + ROWS_OF_PAGE, this.shown.length);
      const rows = [];
      for (let i = from; i < to; i++) {
        rows.push(make('tr', {}, ...this.head.map((head) => this.cell(head, this.shown[i]))));
      }
      this.table.tBodies[0].replaceChildren(...rows);
      this.back.disabled = this.page === 0;
      this.next.disabled = to >= this.shown.length;
      this.pager.hidden = this.shown.length <= ROWS_OF_PAGE;
      this.count.textContent = this.summary(from, to);
    }

    summary(from, to) {
      const total = this.shown.length;
      const noun = this.table.dataset.name;
      if (total === 0) return 'None of ' + grouped(this.data.rows, 0) + ' ' + noun + ' matches.';
      const parts = [(total > ROWS_OF_PAGE ? grouped(from + 1, 0) + DASH + grouped(to, 0) + ' of ' : '')
        + grouped(total, 0) + (total < this.data.rows ? ' of ' + grouped(this.data.rows, 0) + ' ' : ' ') + noun];
      const cost = this.data.columns.cost;
      const micro = this.table.dataset.sum === 'micro';
      const sums = new Map();
      const currency = this.data.columns.currency;
      let seconds = 0;
      const gpu = this.data.columns.gpu;
      for (const row of this.shown) {
        const code = currency ? currency.words[currency.at[row]] : this.data.currency;
        sums.set(code, (sums.get(code) ?? 0) + (cost.values[row] ?? 0));
        if (gpu) seconds += gpu.values[row];
      }
      for (const [code, sum] of sums) {
        if (code) {
          const digits = this.data.digits[code] ?? 2;
          parts.push(grouped(sum / (micro ? 1e6 : 10 ** digits), digits) + ' ' + code);
        }
      }
      if (gpu) parts.push(hours(seconds) + ' GPU-hours');
      return parts.join(' · ');
    }
  }

  const tables = new Map();
  const upgrade = (section) => {
    for (const table of section.querySelectorAll('table[data-rows]')) {
      if (!tables.has(table)) tables.set(table, new DataTable(table));
    }
  };

  /** Shows what is known of a run without a page of its own. */
  const showOther = (section, id) => {
    section.querySelector('h1').textContent = id;
    section.querySelector('code').textContent = 'nexa-slurm report --run ' + id;
  };

  const markScrollable = (section) => {
    for (const box of section.querySelectorAll('.scroll')) {
      if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) box.tabIndex = 0;
      else box.removeAttribute('tabindex');
    }
  };

  const pages = [...document.querySelectorAll('main > section')];
  const title = document.title;
  const open = (moved) => {
    let [id, query = ''] = location.hash.slice(1).split('?');
    try { id = decodeURIComponent(id); } catch { /* kept as it is */ }
    let page = pages.find((one) => one.id === id);
    if (!page && id.startsWith('run/') && byId('run-elsewhere')) {
      page = byId('run-elsewhere');
      showOther(page, id.slice(4));
    }
    page = page ?? pages[0];
    pages.forEach((one) => one.classList.toggle('shown', one === page));
    for (const link of document.querySelectorAll('header nav a')) {
      if (link.hash === '#' + page.id || page.id.startsWith(link.dataset.of ?? '\n')) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
    }
    upgrade(page);
    markScrollable(page);
    const heading = page.querySelector('h1');
    document.title = heading.textContent + ' · ' + title;
    if (moved) {
      if (query || page.id === 'runs') {
        for (const [table, data] of tables) if (page.contains(table)) data.choose(query);
      }
      heading.tabIndex = -1;
      heading.focus({preventScroll: true});
      scrollTo(0, 0);
    }
  };

  root.classList.add('scripted');
  const theme = byId('theme');
  if (theme) {
    theme.hidden = false;
    const dark = () => root.dataset.theme
      ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    const name = () => { theme.textContent = dark() ? 'Light' : 'Dark'; };
    theme.addEventListener('click', () => { root.dataset.theme = dark() ? 'light' : 'dark'; name(); });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', name);
    name();
  }
  addEventListener('hashchange', () => open(true));
  addEventListener('beforeprint', () => document.querySelectorAll('section.shown details').forEach((one) => { one.open = true; }));
  open(location.hash !== '');
})();
