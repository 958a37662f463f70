/** The style of the pages for people. Follows the reader's choice of light or dark. */
export const PAGES_CSS = `:root {
  color-scheme: light dark;
  --text: #1c2128;
  --soft: #57606a;
  --line: #d8dee4;
  --page: #ffffff;
  --box: #f6f8fa;
  --accent: #0b5cad;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e2e6ea;
    --soft: #9ba5b0;
    --line: #343b44;
    --page: #14181d;
    --box: #1d232a;
    --accent: #79b8ff;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0;
  background: var(--page);
  color: var(--text);
  font: 16px/1.55 system-ui, sans-serif;
  font-variant-numeric: tabular-nums;
  overflow-wrap: break-word;
}
nav, main { max-width: 48rem; margin: 0 auto; padding: 0 16px; }
nav { display: flex; flex-wrap: wrap; gap: 4px 24px; padding-top: 16px; padding-bottom: 12px; }
nav a { color: var(--soft); text-decoration: none; padding: 4px 0; border-bottom: 2px solid transparent; }
nav a[aria-current] { color: var(--text); border-color: var(--accent); }
main { padding-bottom: 64px; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 20px 0 12px; }
h2 { font-size: 1.25rem; line-height: 1.3; margin: 40px 0 8px; padding-top: 12px; border-top: 1px solid var(--line); }
p, ul, ol { margin: 8px 0; }
ul, ol { padding-left: 24px; }
a { color: var(--accent); }
a:focus-visible, pre:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
code, pre { font: 0.875em/1.5 ui-monospace, monospace; }
code { background: var(--box); border-radius: 4px; padding: 1px 4px; }
pre { background: var(--box); border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px; overflow-x: auto; }
pre code { background: none; padding: 0; font-size: 1em; }
dl { margin: 12px 0; }
dl > div { padding: 10px 0; border-top: 1px solid var(--line); scroll-margin-top: 8px; }
dl > div:target { background: var(--box); box-shadow: -8px 0 0 var(--box), 8px 0 0 var(--box); }
dt { font-weight: 600; }
dt span { color: var(--soft); font-weight: 400; margin-left: 8px; }
dd { margin: 2px 0 0; }
dd.action { color: var(--soft); }
table { border-collapse: collapse; margin: 12px 0; }
th, td { text-align: left; padding: 4px 24px 4px 0; border-bottom: 1px solid var(--line); }
@media (min-width: 44rem) {
  dl > div { display: grid; grid-template-columns: 14rem 1fr; column-gap: 16px; }
  dd { grid-column: 2; }
}
`;
