// In a block that shows a terminal, the button copies what one types: the lines after `$ `, without the prompt and the output.
const text = (node) => node.value ?? node.children.map(text).join('')
const aside = (...children) => ({ type: 'element', tagName: 'span', properties: { class: 'vp-copy-ignore' }, children })

/** Cuts the first characters off a line's tokens. */
function cut(node, count) {
  for (const child of node.children ?? []) {
    count = cut(child, count)
  }
  if (node.value === undefined) return count
  const gone = Math.min(count, node.value.length)
  node.value = node.value.slice(gone)
  return count - gone
}

export const typed = {
  name: 'typed',
  code(code) {
    const lines = code.children.filter((child) => child.type === 'element')
    if (!lines.some((line) => text(line).startsWith('$ '))) return
    const parts = []
    let goesOn = false
    let copied = false
    for (const line of lines) {
      const prompt = text(line).startsWith('$ ')
      const isTyped = prompt || goesOn
      goesOn = isTyped && text(line).endsWith('\\')
      if (parts.length > 0) {
        const feed = { type: 'text', value: '\n' }
        parts.push(isTyped && copied ? feed : aside(feed))
      }
      if (prompt) {
        cut(line, 2)
        line.children.unshift(aside({ type: 'text', value: '$ ' }))
      }
      parts.push(isTyped ? line : aside(line))
      copied ||= isTyped
    }
    code.children = parts
  }
}
