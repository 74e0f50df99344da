import type { Page } from 'playwright-core'

/** Text that can be seen, each with its element: for what runs in the page. */
const visibleTexts = `
  const visibleTexts = () => {
    const found = []
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) {
      const node = walker.currentNode
      const element = node.parentElement
      const isText = node.textContent.trim() !== '' && !['SCRIPT', 'STYLE', 'OPTION'].includes(element.tagName)
      if (isText && element.checkVisibility()) found.push({ node, element })
    }
    return found
  }`

/** Text whose contrast is below 4.5, the least of WCAG 2.2 (criterion 1.4.3), with the contrast that it has. */
export function paleTexts(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    ${visibleTexts}
    const colour = (text) => {
      const [red, green, blue, alpha = 1] = text.match(/[\\d.]+/g).map(Number)
      return { channels: [red, green, blue], alpha }
    }
    const blend = ({ channels, alpha }, behind) => channels.map((value, i) => value * alpha + behind[i] * (1 - alpha))
    const ancestors = (element) => element === null ? [] : [...ancestors(element.parentElement), element]
    const behind = (element) => ancestors(element).reduce(
      (below, each) => blend(colour(getComputedStyle(each).backgroundColor), below), [255, 255, 255])
    const opacity = (element) => ancestors(element).reduce((all, each) => all * getComputedStyle(each).opacity, 1)
    const linear = (value) => value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4
    const luminance = ([red, green, blue]) => 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    const contrast = (element) => {
      const back = behind(element)
      const { channels, alpha } = colour(getComputedStyle(element).color)
      const front = blend({ channels, alpha: alpha * opacity(element) }, back)
      const [dark, bright] = [luminance(front), luminance(back)].sort((a, b) => a - b)
      return (bright + 0.05) / (dark + 0.05)
    }
    const pale = visibleTexts().map(({ node, element }) => [node.textContent.trim(), contrast(element)])
    return [...new Set(pale.filter(([, value]) => value < 4.5).map(([text, value]) => text + ': ' + value.toFixed(1)))]
  })()`)
}

/** Words that are on two lines, but for those of blocks where something without a space is longer than any line. */
export function brokenWords(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    ${visibleTexts}
    const linesOf = (node, { index, 0: word }) => {
      const range = document.createRange()
      range.setStart(node, index)
      range.setEnd(node, index + word.length)
      return new Set([...range.getClientRects()].map(({ bottom }) => Math.round(bottom))).size
    }
    const isLong = ({ element }) => /\\S{40}/.test((element.closest('pre') ?? element).textContent)
    const wordsOf = ({ node }) => [...node.textContent.matchAll(/[\\p{L}\\p{N}]+/gu)].map((word) => ({ node, word }))
    const broken = visibleTexts().filter((text) => !isLong(text)).flatMap(wordsOf).filter(({ node, word }) => linesOf(node, word) > 1)
    return [...new Set(broken.map(({ word }) => word[0]))]
  })()`)
}
