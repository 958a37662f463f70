import { ApprovalIdText, DeliveryIdText, ReceiverIdText, ReplayIdText, TaskIdText } from '@herald/core';
import { z } from 'zod';

// A path parameter of another form is answered as an id that leads nowhere: 404.
export const OfReceiver = z.object({ id: ReceiverIdText });
export const OfTask = z.object({ id: TaskIdText });
export const OfDelivery = z.object({ id: DeliveryIdText });
export const OfReplay = z.object({ id: ReplayIdText });
export const OfApproval = z.object({ id: TaskIdText, approvalId: ApprovalIdText });
