// Checks the built site: each link and anchor leads somewhere, no page, style or program loads anything from another site,
// and the site's search answers each question of questions.json with the page beside it first.
// usage: node check.mjs FOLDER [BASE]
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join, posix, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { searchOptions } from './theme/search.mjs'

const [folder, base = '/'] = process.argv.slice(2)
const files = readdirSync(folder, { recursive: true })
  .filter((path) => statSync(join(folder, path)).isFile())
  .map((path) => path.replaceAll('\\', '/'))
const present = new Set(files)
const problems = []
const text = (path) => readFileSync(join(folder, path), 'utf8')
const decoded = (value) => value.replaceAll('&amp;', '&').replaceAll('&#39;', "'").replaceAll('&quot;', '"')

const anchors = new Map()
const html = files.filter((path) => path.endsWith('.html'))
for (const path of html) {
  anchors.set(path, new Set([...text(path).matchAll(/\sid="([^"]*)"/g)].map((found) => decoded(found[1]))))
}

/** The file that an address of a page leads to, or null. */
function file(from, address) {
  const path = address.startsWith(base) ? address.slice(base.length) : posix.join(posix.dirname(from), address)
  const named = posix.normalize(path || '.')
  return [named, posix.join(named, 'index.html'), `${named}.html`].find((name) => present.has(name)) ?? null
}

const foreign = (address) => /^([a-z][a-z0-9+.-]*:)?\/\//i.test(address)
let links = 0

for (const path of html) {
  const page = text(path)
  // A script's text is looked at below; a link within a block of code is text, too.
  const tags = page.replace(/<script[^>]*>[\s\S]*?<\/script>/g, (script) => script.slice(0, script.indexOf('>') + 1)).match(/<[a-z][^>]*>/gi) ?? []
  if (!tags.some((tag) => tag.includes('Content-Security-Policy') && /default-src '(self|none)'/.test(decoded(tag)))) {
    problems.push(`${path}: has no Content-Security-Policy`)
  }
  for (const tag of tags) {
    const name = /^<([a-z0-9]+)/i.exec(tag)[1].toLowerCase()
    for (const [, attribute, value] of tag.matchAll(/\s(href|src|srcset|poster|data|action)="([^"]*)"/gi)) {
      const address = decoded(value)
      const loads = attribute.toLowerCase() !== 'href' || name === 'link'
      if (foreign(address)) {
        if (loads) problems.push(`${path}: <${name}> loads ${address}`)
        continue
      }
      if (/^(data|mailto):/.test(address)) continue
      links++
      // The report keeps the filters of its table behind a question mark, after the anchor.
      const [named, anchor] = address.split('#').map((part, i) => (i === 1 ? part.split('?')[0] : part))
      const target = named === '' ? path : file(path, decodeURI(named))
      if (target === null) {
        problems.push(`${path}: ${address} leads nowhere`)
      } else if (anchor && anchors.has(target) && !anchors.get(target).has(decodeURIComponent(anchor))) {
        problems.push(`${path}: ${target} has no anchor #${anchor}`)
      }
    }
  }
}

for (const path of files.filter((name) => name.endsWith('.css'))) {
  for (const [, address] of text(path).matchAll(/(?:url\(|@import\s+)["']?([^"')\s;]+)/g)) {
    if (foreign(address)) problems.push(`${path}: loads ${address}`)
  }
}

for (const path of files.filter((name) => name.endsWith('.js'))) {
  const program = text(path)
  for (const [call] of program.matchAll(/(?:fetch|import|importScripts|WebSocket|EventSource|sendBeacon)\(\s*["'`](?:https?:|wss?:)?\/\/[^"'`]*/g)) {
    problems.push(`${path}: ${call}`)
  }
  for (const [assignment] of program.matchAll(/\.(?:src|href)\s*=\s*["'`](?:https?:)?\/\/[^"'`]*/g)) {
    problems.push(`${path}: ${assignment}`)
  }
}

const ours = (name) => Object.entries(JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8')))
const load = async (path) => (await import(pathToFileURL(resolve(folder, path)))).default
const MiniSearch = await load('../node_modules/minisearch/dist/es/index.js')
const index = await load(files.find((path) => path.includes('@localSearchIndex')))
const search = MiniSearch.loadJSON(index, { fields: ['title', 'titles', 'text'], storeFields: ['title', 'titles'], searchOptions })
const questions = ours('questions.json')
for (const [question, wanted] of questions) {
  const first = search.search(question)[0]?.id.slice(base.length).replace('.html', '') ?? 'nothing'
  if (first !== wanted && first.split('#')[0] !== wanted) {
    problems.push(`questions.json: the search for "${question}" begins with ${first}, not with ${wanted}`)
  }
}
for (const [key] of ours('keywords.json')) {
  const [page, anchor] = key.split('#')
  if (!anchors.has(`${page}.html`) || (anchor && !anchors.get(`${page}.html`).has(anchor))) {
    problems.push(`keywords.json: there is no ${key}`)
  }
}

if (problems.length > 0) {
  console.error([...new Set(problems)].join('\n'))
  process.exit(1)
}
console.log(`site: ${html.length} pages, ${links} links and anchors lead somewhere, ${questions.length} questions find their page, nothing is loaded from another site`)
