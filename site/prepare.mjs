// Copies docs/ and the pages at the repository's root into target/site/pages, with links that fit the site.
// usage: node prepare.mjs REPOSITORY TARGET
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'

const [repository, target] = process.argv.slice(2)
const pages = join(target, 'pages')
const read = (path) => readFileSync(join(repository, path), 'utf8')

// Where each Markdown file of the repository becomes a page. docs/index.md is /all-pages: the home page has its place.
const places = new Map([
  ['README.md', 'readme.md'],
  ['CONTRIBUTING.md', 'contributing.md'],
  ['CHANGELOG.md', 'changelog.md']
])
for (const path of readdirSync(join(repository, 'docs'), { recursive: true }).sort()) {
  if (path.endsWith('.md')) {
    places.set(`docs/${path}`, path === 'index.md' ? 'all-pages.md' : path)
  }
}

const problems = []

/** The address of a path of the repository, seen from the page of the file `from`. */
function address(from, link) {
  const [path, anchor] = link.split('#')
  const named = posix.normalize(posix.join(posix.dirname(from), path))
  const suffix = anchor === undefined ? '' : `#${anchor}`
  if (path === '' || /^[a-z]+:/.test(link)) {
    return link
  }
  if (places.has(named)) {
    return `/${places.get(named)}${suffix}`
  }
  if (!existsSync(join(repository, named))) {
    problems.push(`${from}: there is no ${named}`)
    return link
  }
  return statSync(join(repository, named)).isDirectory() ? `/${folder(named)}` : `/${published(named)}`
}

/** Publishes a file that is no page. Browsers show a text file that is called .txt. */
function published(path) {
  const name = `files/${/\.(html|json|yaml|yml)$/.test(path) ? path : `${path}.txt`}`
  const place = join(pages, 'public', name)
  mkdirSync(dirname(place), { recursive: true })
  cpSync(join(repository, path), place)
  return name
}

/** A page that lists a folder. */
function folder(path) {
  const name = path.replace(/^docs\//, '').replace(/\/$/, '')
  const place = join(pages, name, 'index.md')
  if (!existsSync(place)) {
    mkdirSync(dirname(place), { recursive: true })
    writeFileSync(place, '')
    const files = readdirSync(join(repository, path), { recursive: true })
      .sort()
      .filter((file) => statSync(join(repository, path, file)).isFile())
    const title = { errors: 'Error codes', decisions: 'Decisions', schemas: 'JSON Schemas' }[name] ?? name
    const lines = files.map((file) => {
      const named = posix.join(path, file)
      return places.has(named)
        ? `- [${heading(read(named)) ?? file}](/${places.get(named)})`
        : `- [${file}](/${published(named)})`
    })
    writeFileSync(place, `# ${title}\n\n${lines.join('\n')}\n`)
  }
  return `${name}/`
}

const heading = (text) => /^# (.*)$/m.exec(text)?.[1]

/** Calls `change` for each line that is not within a block of code. */
function prose(text, change) {
  let fence = null
  return text
    .split('\n')
    .map((line) => {
      const mark = /^\s*(```+|~~~+)/.exec(line)?.[1]
      if (mark && (fence === null || line.trim() === fence)) {
        fence = fence === null ? mark : null
        return line
      }
      return fence === null ? change(line) : line
    })
    .join('\n')
}

/** The sections of docs/index.md are the site's sidebar. */
function groups() {
  const found = []
  for (const line of read('docs/index.md').split('\n')) {
    const section = /^## (.*)$/.exec(line)
    const row = /^\| \[([^\]]*)\]\(([^)]*)\)/.exec(line)
    if (section) {
      found.push({ text: section[1], items: [] })
    } else if (row && found.length > 0) {
      const named = posix.normalize(posix.join('docs', row[2]))
      const title = places.has(named) ? heading(read(named)) : undefined
      found.at(-1).items.push({ text: title ?? row[1], link: address('docs/index.md', row[2]).replace(/\.md$/, '') })
    }
  }
  return found.filter((group) => group.items.length > 0)
}

/** The list of pages for programs that read Markdown. */
function llms() {
  const lines = read('docs/index.md')
    .split('\n')
    .flatMap((line) => {
      const row = /^\| \[[^\]]*\]\(([^)#]*\.md)\) \| (.*) \|$/.exec(line)
      const named = row && posix.normalize(posix.join('docs', row[1]))
      return row ? [`- [${heading(read(named))}](/${places.get(named)}): ${row[2]}`] : line.startsWith('## ') ? ['', line, ''] : []
    })
  return `# nexa-slurm\n\n> A command-line program on a Slurm login node. It prices jobs, asks for approvals, submits once, and accounts for the cost.\n${lines.join('\n')}\n`
}

rmSync(pages, { recursive: true, force: true })
mkdirSync(join(pages, 'public'), { recursive: true })
for (const [path, place] of places) {
  const link = /(\]\()([^)\s]+)(\))/g
  const text = prose(read(path).replace(/^<!--.*-->\n/gm, ''), (line) =>
    line.replace(link, (all, open, named, close) => {
      if (/\.(svg|png)$/.test(named) && !/^[a-z]+:/.test(named)) {
        return `${open}/${posix.basename(named)}${close}`
      }
      const to = address(path, named)
      // The site's program would look for a page of the site; the browser shall open this file.
      return open + to + close + (/^\/files\/.*\.html/.test(to) ? '{target="_self"}' : '')
    })
  )
  mkdirSync(dirname(join(pages, place)), { recursive: true })
  writeFileSync(join(pages, place), text)
}
for (const file of readdirSync(join(repository, 'docs')).filter((name) => /\.(svg|png)$/.test(name))) {
  cpSync(join(repository, 'docs', file), join(pages, 'public', file))
}
cpSync(join(repository, 'site/home.md'), join(pages, 'index.md'))
for (const [line] of read('site/home.md').matchAll(/^ +(tar|ln) .*/gm)) {
  if (!read('docs/installing.md').includes(line.trim())) {
    problems.push(`site/home.md: docs/installing.md has no ${line.trim()}`)
  }
}
writeFileSync(join(target, 'groups.json'), JSON.stringify(groups()))
writeFileSync(join(pages, 'public/llms.txt'), llms())
// Each page also as Markdown, beside its HTML.
for (const place of places.values()) {
  mkdirSync(dirname(join(pages, 'public', place)), { recursive: true })
  cpSync(join(pages, place), join(pages, 'public', place))
}
if (problems.length > 0) {
  console.error(problems.join('\n'))
  process.exit(1)
}
