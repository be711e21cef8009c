// The sections of a page for the site's search, each with the everyday words of site/keywords.json that lead to it.
import { readFileSync } from 'node:fs'

const keywords = JSON.parse(readFileSync(new URL('keywords.json', import.meta.url), 'utf8'))
const text = (html) => html.replace(/<[^>]*>/g, '')

export function* sections(file, html) {
  const page = file.replace(/^.*\/pages\//, '').replace(/\.md$/, '')
  const [, ...parts] = html.split(/<h([1-6])[^>]*>(.*?)<a [^>]*href="#([^"]*)"[^>]*>.*?<\/a><\/h\1>/s)
  const above = []
  for (let i = 0; i + 3 < parts.length; i += 4) {
    const [level, heading, anchor, content] = parts.slice(i, i + 4)
    above.length = level - 1
    above[level - 1] = text(heading).trim()
    const key = level === '1' ? page : `${page}#${anchor}`
    // Three times, so that a word in a long section counts as much as one in a heading.
    yield { anchor, titles: above.filter(Boolean), text: `${keywords[key] ?? ''} `.repeat(3) + text(content) }
  }
}
