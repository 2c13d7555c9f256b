package io.verbena.rdma.ibverbs;

import io.verbena.rdma.ibverbs.library.ReceiveSlots;
import io.verbena.rdma.ibverbs.library.SendRing;

/**
 * What a serial number in a completion stands for. Polling reads its fields without asking for the class of anything.
 *
 * @param sends    where its requests lie; null for a shared receive queue.
 * @param receives where its receives lie; null for what only shares a queue.
 * @param consumer what receives complete for; null for a shared receive queue: the number in the completion names it.
 */
record CompletionOwner(SendRing sends, ReceiveSlots receives, ReceiveConsumer consumer)
{
}
