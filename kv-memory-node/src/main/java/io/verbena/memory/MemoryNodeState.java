package io.verbena.memory;

/** Where a {@link MemoryNode} stands. */
public enum MemoryNodeState
{
    /** Registering, for the first time or again; admits nobody. */
    JOINING,
    /** Holds a lease and admits members. */
    READY,
    /** Has cut everybody off and says good-bye. */
    LEAVING,
    /** Gone from the membership. */
    LEFT,
    /** Did not join in time, or was refused; {@link MemoryNode#failure()} says why. Close it. */
    FAILED
}
