/** What the page about a Task says. */
export const taskTexts = {
  title: 'Task',
  emptyTitle: 'No delivery',
  empty: 'No transition of this Task was sent to anybody: nothing has happened yet, or no receiver had subscribed.',
  deliveriesOf: (event: string) => `Deliveries of ${event}`,
} as const;
