package io.verbena.rdma.roce.engine;

/** What a completion queue needs of the queue pair that a completion belongs to. */
abstract class CompletionOwner
{
    /** Number of the queue pair. */
    abstract int number();

    /** The completion of a send was polled: the slots before a position are free. */
    abstract void freeSends(long position);

    /** The completion of a receive was polled or dropped: its slot is free. */
    abstract void freeReceive();
}
