package io.verbena.memory.checkpoint;

/** The checkpoint of a group of memory nodes cannot be restored; others may be. */
public final class GroupRestoreException extends CheckpointException
{
    private static final long serialVersionUID = 1L;

    private final int group;

    /**
     * @param group of which.
     * @param cause what failed.
     */
    public GroupRestoreException(final int group, final RuntimeException cause)
    {
        super("checkpoint of group " + group + ": " + cause.getMessage(), cause);
        this.group = group;
    }

    /** @return number of the group. */
    public int group()
    {
        return group;
    }

    /** @return whether it is damaged; else there is a remedy, after which all that is in it can be restored. */
    public boolean isDamaged()
    {
        return getCause() instanceof DamagedCheckpointException || !(getCause() instanceof CheckpointException);
    }
}
