import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { texts } from '../texts/texts.ts';

/** A component whose program is loaded when it is first shown. */
export function createLazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let known: ComponentType<Props> | undefined;
  return function Lazy(props: Props) {
    const [state, setState] = useState<{ Loaded?: ComponentType<Props> | undefined; failed?: true }>({ Loaded: known });
    useEffect(() => {
      if (known !== undefined) return;
      load().then(
        (Loaded) => {
          known = Loaded;
          setState({ Loaded });
        },
        () => {
          setState({ failed: true });
        },
      );
    }, []);
    if (state.failed)
      return (
        <p class="notice" role="status">
          {texts.newVersion}
        </p>
      );
    const { Loaded } = state;
    return Loaded ? <Loaded {...props} /> : <div class="loading" role="status" aria-label={texts.loading} />;
  };
}
