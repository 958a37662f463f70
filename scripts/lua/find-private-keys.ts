import type { QueueKeys } from '@herald/queue';
import ts from 'typescript';

/** The strings in the Lua of a source that name keys of the queue: its fragments do that, and scripts ask them. */
export function findPrivateKeys(source: string, keys: QueueKeys): string[] {
  const names = Object.entries(keys).flatMap(([kind, key]) => {
    if (kind === 'prefix') return [];
    return typeof key === 'string' ? [key] : [(key as (id: string) => string)('')];
  });
  return readOwnLua(source).flatMap((lua) =>
    [...lua.matchAll(/'([^'\n]*)'/g)].flatMap(([text, name = '']) =>
      names.some((key) => (key.endsWith(':') ? name.startsWith(key) : name === key))
        ? [`${text} is a key of the queue, which its fragments alone name`]
        : [],
    ),
  );
}

/** The texts that a source marks as Lua, without what stands in them from elsewhere. */
function readOwnLua(source: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const isMarked = () => source.slice(node.pos, node.getStart()).trim() === '/* lua */';
    if (ts.isNoSubstitutionTemplateLiteral(node) && isMarked()) found.push(node.text);
    if (ts.isTemplateExpression(node) && isMarked())
      found.push([node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('…'));
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true), visit);
  return found;
}
