import { toOwnPage } from './board-server.ts';

test('what comes from other hosts and what is inline leaves the page; the rest stays', () => {
  const page = `<head><base href="/admin/queues/" />
<link href="https://fonts.example.com/css?a&b" rel="stylesheet">
<link rel="icon" href='x' /><link rel="preload" href="//cdn.example.com/a.css"><link href="static/main.css" rel="stylesheet"></head>
<script id="c" type="application/json">{"a":"<\\u002fstyle>"}</script>
<div id="root"><div style="display:flex">Loading<span style="x"></span></div><style>@keyframes a{0%{b:c}}</style></div>
<script defer src="static/main.js"></script>`;
  expect(toOwnPage(page)).toBe(`<head><base href="/admin/queues/" />

<link rel="icon" href='x' /><link href="static/main.css" rel="stylesheet"></head>
<script id="c" type="application/json">{"a":"<\\u002fstyle>"}</script>
<div id="root"><div>Loading<span></span></div></div>
<script defer src="static/main.js"></script>`);
});
