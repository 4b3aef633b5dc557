// One file without any other origin: script and style are put into the page, and the page's policy names them by their
// SHA-256. Written into built/, which is committed: a build of samebit needs no Node.
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { defineConfig } from 'vite';

const folder = process.env.SAMEBIT_PAGE_OUT ?? 'built';

const hashOf = (text) => `'sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}'`;

// What the browser may do with the page: run this script, apply this style, ask the server that sent it, nothing else.
const policyOf = (script, style) =>
  [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ') + '\n';

function textOf(bundle, ending) {
  const found = Object.values(bundle).filter((file) => file.fileName.endsWith(ending));
  if (found.length !== 1) throw new Error(`expected one ${ending}, found ${found.length}`);
  return String(found[0].type === 'chunk' ? found[0].code : found[0].source).trim();
}

function replaceOnce(text, pattern, by) {
  if (text.match(new RegExp(pattern, 'g'))?.length !== 1) throw new Error(`expected ${pattern} once`);
  return text.replace(pattern, () => by);
}

const onePage = {
  name: 'one-page',
  enforce: 'post',
  generateBundle(_, bundle) {
    // The end tag would end the element wherever it stands, even in a string.
    const script = textOf(bundle, '.js').replaceAll('</script', '<\\/script');
    const style = textOf(bundle, '.css');
    let page = textOf(bundle, '.html');
    page = replaceOnce(page, /\s*<script[^>]*><\/script>/, '');
    page = replaceOnce(page, /<link rel="stylesheet"[^>]*>/, `<style>${style}</style>`);
    page = replaceOnce(page, /<\/body>/, `<script type="module">${script}</script>\n</body>`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${folder}/page.html`, page + '\n');
    writeFileSync(`${folder}/policy.txt`, policyOf(script, style));
    for (const name of Object.keys(bundle)) delete bundle[name];
  },
};

export default defineConfig({
  plugins: [onePage],
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact', legalComments: 'none' },
  build: { target: 'es2020', modulePreload: false, cssCodeSplit: false, emptyOutDir: false, write: true, outDir: folder },
});
