package io.verbena.rdma.spi;

/** What the process that opens a fabric is to its peers, where one that stands still can hold up others. */
public enum ProcessRole
{
    /** Nobody ends it, and it waits long for a peer that holds it up. */
    APPLICATION,
    /** One thread of it serves everybody: waits short for a peer that holds it up. Nobody ends it. */
    SERVER,
    /**
     * Others go on without it: peers of the same user may end it (SIGKILL) when it holds them up, as a process that is
     * stopped (SIGSTOP) while it is inside their memory.
     */
    EXPENDABLE
}
