// VitePress's configuration. dev/site copies it into target/site/.vitepress.
import { readFileSync } from 'node:fs'
import { defineConfig } from 'vitepress'
import { sections } from '../sections.mjs'
import { slug } from '../slug.mjs'
import { typed } from '../typed.mjs'

const groups = JSON.parse(readFileSync(new URL('../groups.json', import.meta.url), 'utf8'))

// The browser itself refuses what is not of this site.
const policy =
  "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:"

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0f6b63"/><path d="M5 12V4l6 8V4" fill="none" stroke="#fff" stroke-width="2"/></svg>'

export default defineConfig({
  title: 'nexa-slurm',
  description: 'Price, approve, submit and account for Slurm jobs',
  lang: 'en',
  srcDir: 'pages',
  srcExclude: ['public/**'],
  base: process.env.NEXA_SITE_BASE ?? '/',
  outDir: 'html',
  head: [
    ['meta', { 'http-equiv': 'Content-Security-Policy', content: policy }],
    ['link', { rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent(icon)}` }]
  ],
  markdown: {
    anchor: { slugify: slug },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-default' },
    codeTransformers: [typed],
    // A page is text: what looks like markup or like a Vue expression is shown as it is.
    config(md) {
      md.set({ html: false })
      const text = md.renderer.rules.text
      md.renderer.rules.text = (...args) => text(...args).replaceAll('{{', '&#123;&#123;')
      const inline = md.renderer.rules.code_inline
      md.renderer.rules.code_inline = (tokens, i, ...rest) => {
        const code = tokens[i].content
        if (code.length <= (code.includes(' ') ? 24 : 34)) tokens[i].attrJoin('class', 'short')
        return inline(tokens, i, ...rest)
      }
      md.renderer.rules.code_block = (...args) => md.renderer.rules.fence(...args)
      md.renderer.rules.table_open = () => '<div class="table" tabindex="0"><table>\n'
      md.renderer.rules.table_close = () => '</table></div>\n'
    }
  },
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        miniSearch: { _splitIntoSections: sections }
      }
    },
    outline: { level: [2, 3] },
    nav: [
      { text: 'First run', link: '/first-run' },
      { text: 'Tutorial', link: '/tutorial' },
      { text: 'All pages', link: '/all-pages' }
    ],
    sidebar: groups.map((group, number) => ({ ...group, collapsed: number > 4 })),
    footer: { message: 'Apache-2.0. These pages load nothing from other sites.' }
  }
})
