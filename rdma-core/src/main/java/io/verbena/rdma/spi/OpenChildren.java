package io.verbena.rdma.spi;

import io.verbena.rdma.verbs.RdmaException;

import java.util.List;

/** How many things are open that were made from another one, which is not closed before them. Thread-safe. */
public final class OpenChildren
{
    private final String parent;
    private int count;
    private boolean isClosed;

    /** @param parent in words, for messages. */
    public OpenChildren(final String parent)
    {
        this.parent = parent;
    }

    /** @throws RdmaException when the parent is closed. */
    public synchronized void checkOpen()
    {
        if (isClosed)
        {
            throw new RdmaException(parent + " is closed");
        }
    }

    /**
     * One more is made.
     *
     * @throws RdmaException when the parent is closed.
     */
    public synchronized void add()
    {
        checkOpen();
        count++;
    }

    /** One of them is closed. */
    public synchronized void remove()
    {
        count--;
    }

    /**
     * One more is made from several parents.
     *
     * @param parents of it.
     * @throws RdmaException when one of them is closed; then it counts for none.
     */
    public static void addAll(final List<OpenChildren> parents)
    {
        int addedCount = 0;
        try
        {
            while (addedCount < parents.size())
            {
                parents.get(addedCount).add();
                addedCount++;
            }
        }
        finally
        {
            if (addedCount < parents.size())
            {
                removeAll(parents.subList(0, addedCount));
            }
        }
    }

    /**
     * One is closed that was made from several parents.
     *
     * @param parents of it.
     */
    public static void removeAll(final List<OpenChildren> parents)
    {
        parents.forEach(OpenChildren::remove);
    }

    /**
     * Nothing can be made from the parent any more.
     *
     * @return false when that was so before.
     * @throws RdmaException while something is open.
     */
    public synchronized boolean close()
    {
        if (isClosed)
        {
            return false;
        }
        checkUnused();
        isClosed = true;
        return true;
    }

    /** @throws RdmaException while something is open. */
    public synchronized void checkUnused()
    {
        if (count > 0)
        {
            throw new RdmaException(parent + " is in use: close what was made from it first, open=" + count);
        }
    }
}
