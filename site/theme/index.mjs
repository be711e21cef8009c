import { useRoute } from 'vitepress'
import DefaultTheme from 'vitepress/theme'
import { nextTick, onMounted, watch } from 'vue'
import Front from './Front.vue'
import { searchOptions } from './search.mjs'
import './style.css'

/** The heading of a group in the sidebar is one button; VitePress puts a second one, the arrow, into it. */
function oneButton() {
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
    onMounted(() => watch(() => route.path, () => nextTick(oneButton), { immediate: true }))
  }
}
