package io.verbena.memory.checkpoint;

/** The checkpoint of a group of memory nodes cannot be restored; all others can. */
public final class GroupRestoreException extends CheckpointException
{
    private static final long serialVersionUID = 1L;

    private final int group;

    GroupRestoreException(final int group, final RuntimeException cause)
    {
        super(cause.getMessage(), cause);
        this.group = group;
    }

    /** @return number of the group. */
    public int group()
    {
        return group;
    }
}
