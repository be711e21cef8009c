import { useRoute } from 'vitepress'
import DefaultTheme from 'vitepress/theme'
import { nextTick, onMounted, watch } from 'vue'
import Front from './Front.vue'
import { searchOptions } from './search.mjs'
import './style.css'

/**
 * The heading of a group in the sidebar is one button; VitePress puts a second one, the arrow, into it.
 * The button of the search is called Search. The style shows its key, which is no part of the name.
 */
function tellButtons() {
  document.querySelector('.DocSearch-Button-Key:last-child')?.replaceChildren()
  for (const arrow of document.querySelectorAll('.VPSidebarItem > [role="button"] > .caret')) {
    for (const name of ['role', 'tabindex', 'aria-label']) arrow.removeAttribute(name)
  }
}

export default {
  extends: DefaultTheme,
  enhanceApp({ app, siteData }) {
    app.component('front', Front)
    // These options are functions. In VitePress's configuration they would become text that the browser must evaluate.
    siteData.value.themeConfig.search.options.miniSearch = { searchOptions }
  },
  setup() {
    const route = useRoute()
    onMounted(() => watch(() => route.path, () => nextTick(tellButtons), { immediate: true }))
  }
}
