package io.verbena.compute.control;

import io.verbena.table.directory.TableCreator;

/**
 * Lets one creation of a session at a time lease chunks and format them: the engine formats one table at a time, and
 * creations that lease side by side would take chunks from each other until none has enough. Owned by the node's
 * thread.
 */
final class CreationSlot
{
    private Object holder;
    private TableCreator creator;

    /** @return whether this creation has the slot from now on, or had it already. */
    boolean tryTake(final Object creation)
    {
        if (null == holder && (null == creator || creator.isFinished()))
        {
            holder = creation;
        }
        return creation == holder;
    }

    /** The holder formats: nobody else does before that is finished, even if the holder is not there any more. */
    void onFormat(final TableCreator begun)
    {
        creator = begun;
    }

    /** Gives the slot back, if this creation has it. */
    void giveBack(final Object creation)
    {
        if (creation == holder)
        {
            holder = null;
        }
    }
}
