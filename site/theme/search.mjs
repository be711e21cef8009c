// How the site's search weighs what it finds. site/check.mjs asks site/questions.json with the same options.
const EVERYWHERE = new Set('a an and are as at be can could do does for from have how i if in is it me my of on or our should so that the this to want was we what when where which will with would you your'.split(' '))
const OFTEN = new Set(['job', 'jobs', 'run', 'runs', 'running', 'slurm', 'use'])

// Pages for people who change nexa-slurm, and pages that only list others: they come last.
const LAST = /\/(decisions\/|examples\/|schemas\/|changelog|contributing|readme|all-pages|architecture|performance|exactly-once|slurm-versions|ROADMAP_OPS)/

/** A word and its stem, which finds its other forms too: `approve` finds `approval`. */
function forms(word) {
  const term = word.toLowerCase()
  const stem = term.replace(/(ing|ly|ed|es|s|e)$/, '')
  return stem.length >= 4 && stem !== term && !OFTEN.has(term) ? [term, stem] : term
}

export const searchOptions = {
  processTerm: forms,
  boostTerm: (term) => (EVERYWHERE.has(term) ? 0.01 : OFTEN.has(term) ? 0.2 : 1),
  prefix: (term) => !EVERYWHERE.has(term),
  fuzzy: (term) => (term.length > 5 ? 0.2 : false),
  bm25: { k: 1.2, b: 0.7, d: 0.5 },
  boost: { title: 3, text: 2, titles: 2 },
  boostDocument(id, term, section) {
    if (LAST.test(id)) return 0.1
    return (id.includes('/errors/') ? 0.5 : 1) * (section.titles.length === 0 ? 2 : 1)
  }
}
