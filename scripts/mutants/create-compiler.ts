import { resolve } from 'node:path';
import ts from 'typescript';

/** Says of changed files whether the compiler refuses them. What it would refuse in other files for it, it doesn't see. */
export function createCompiler(paths: readonly string[]) {
  const { sys } = ts;
  const config = ts.getParsedCommandLineOfConfigFile(
    'tsconfig.json',
    {},
    {
      ...sys,
      onUnRecoverableConfigFileDiagnostic({ messageText }) {
        throw new Error(ts.flattenDiagnosticMessageText(messageText, '\n'));
      },
    },
  );
  if (!config) throw new Error('there is no tsconfig.json');
  /** By whole path: what another file imports is asked for by that. */
  const changed = new Map<string, { readonly text: string; readonly version: number }>();
  let version = 0;
  const service = ts.createLanguageService({
    useCaseSensitiveFileNames: () => true,
    fileExists: (path) => sys.fileExists(path),
    readFile: (path) => sys.readFile(path),
    directoryExists: (path) => sys.directoryExists(path),
    getDirectories: (path) => sys.getDirectories(path),
    getCompilationSettings: () => config.options,
    getScriptFileNames: () => paths.map((path) => resolve(path)),
    getScriptVersion: (path) => String(changed.get(resolve(path))?.version ?? 0),
    getScriptSnapshot(path) {
      const text = changed.get(resolve(path))?.text ?? sys.readFile(path);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => sys.getCurrentDirectory(),
    getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
  });
  return {
    /** Whether a file can't be compiled with this text in place of its own. */
    refuses(path: string, text: string): boolean {
      const whole = resolve(path);
      changed.set(whole, { text, version: ++version });
      const found = [...service.getSyntacticDiagnostics(whole), ...service.getSemanticDiagnostics(whole)];
      changed.set(whole, { text: sys.readFile(path) ?? '', version: ++version });
      return found.length > 0;
    },
  };
}
