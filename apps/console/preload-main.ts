import type { Plugin } from 'vite';

type Output = { readonly type: string; readonly isEntry?: boolean } | undefined;
const isEntry = (output: Output): boolean => output?.isEntry === true;

/** Lets the page load the main program beside the early one, which imports it only when it runs. */
export function preloadMain(): Plugin {
  return {
    name: 'preload-main',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(_html, { bundle = {} }) {
        const main = Object.values(bundle).find((output) => output.type === 'chunk' && output.name === 'main');
        if (main?.type !== 'chunk') throw new Error('the build has no chunk of the name main');
        return [main.fileName, ...main.imports.filter((name) => !isEntry(bundle[name]))].map((fileName) => ({
          tag: 'link',
          attrs: { rel: 'modulepreload', crossorigin: true, href: `/${fileName}` },
          injectTo: 'head',
        }));
      },
    },
  };
}
