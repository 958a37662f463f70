type TabsProps<T extends string> = {
  readonly label: string;
  readonly value: T;
  readonly options: readonly (readonly [value: T, title: string])[];
  readonly onChange: (value: T) => void;
};

/** One of a few, side by side. They are buttons that stay pressed. */
export function Tabs<T extends string>({ label, value, options, onChange }: TabsProps<T>) {
  return (
    <div class="tabs" role="group" aria-label={label}>
      {options.map(([option, title]) => (
        <button
          type="button"
          aria-pressed={option === value}
          onClick={() => {
            onChange(option);
          }}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
