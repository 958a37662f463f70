import { markInvisible } from '../text/mark-invisible.ts';
import { texts } from '../texts/texts.ts';

type ForeignTextProps = {
  readonly text: string;
  /** It has several lines, as a body has. */
  readonly lines?: boolean;
};

/**
 * Text that came from outside, and the only way to show such. It is isolated, so that it reorders nothing around it, and
 * what can't be seen is written out.
 */
export function ForeignText({ text, lines = false }: ForeignTextProps) {
  return (
    <bdi dir="auto" class={lines ? 'foreign foreign-lines' : 'foreign'}>
      {markInvisible(text, lines).map((piece) =>
        piece.isMark ? (
          <span class="mark" title={texts.invisible}>
            {piece.text}
          </span>
        ) : (
          piece.text
        ),
      )}
    </bdi>
  );
}
