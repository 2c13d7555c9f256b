package io.verbena.rdma.spi;

import io.verbena.rdma.verbs.ProtectionDomain;

import java.util.function.IntSupplier;

/**
 * A device's memory windows by key, as {@link WindowTable}, for devices whose peers are on a network: behind the mark a
 * key has 23 random bits, and then the 8 of the user. {@link #find} may be called by any thread.
 */
public final class RandomWindowTable extends ScatteredTable<BoundWindow>
{
    /** Most windows open at once. */
    public static final int MAX_WINDOWS = WindowTable.MAX_WINDOWS;

    private static final int MARK = 1 << 31;
    private static final int USER_BITS = 8;
    private static final int NUMBER_BITS = 23;

    /** @param random unpredictable; called by {@link #add}. */
    public RandomWindowTable(final IntSupplier random)
    {
        super(random, MAX_WINDOWS, "memory windows");
    }

    @Override
    int number(final BoundWindow window)
    {
        return number(window.remoteKey());
    }

    private static int number(final int key)
    {
        return (key & ~MARK) >>> USER_BITS;
    }

    /**
     * Looks a key up.
     *
     * @param key of a window.
     * @return the window, bound under this very key; null otherwise.
     */
    public BoundWindow find(final int key)
    {
        final BoundWindow window = WindowTable.isWindowKey(key) ? at(number(key)) : null;
        return window != null && window.isBoundAs(key) ? window : null;
    }

    /**
     * Makes a window, not bound.
     *
     * @param protectionDomain it belongs to.
     * @param owner            called when it is closed.
     * @return the window.
     */
    public synchronized BoundWindow add(final ProtectionDomain protectionDomain, final BoundWindow.Owner owner)
    {
        final BoundWindow window =
            new BoundWindow(MARK | freeNumber(NUMBER_BITS) << USER_BITS, protectionDomain, owner);
        put(window);
        return window;
    }

    /**
     * Makes a window of another table known under the key that it has.
     *
     * @param window with a key that this table has not given out.
     */
    public synchronized void adopt(final BoundWindow window)
    {
        checkUnknown(window);
        put(window);
    }

    /**
     * Takes a window's binding away and makes it unknown; without effect the second time.
     *
     * @param window to remove.
     */
    public synchronized void remove(final BoundWindow window)
    {
        if (contains(window))
        {
            window.unbind();
            take(window);
        }
    }

    /**
     * Takes every binding made through a queue pair away, as when that is destroyed or reset.
     *
     * @param queuePairNumber of the queue pair.
     */
    public synchronized void unbindAll(final int queuePairNumber)
    {
        for (final Object each : all())
        {
            if (each instanceof BoundWindow window && window.isBoundTo(queuePairNumber))
            {
                window.unbind();
            }
        }
    }

    /**
     * Whether a window is of this table and not closed.
     *
     * @param window any.
     * @return whether it is.
     */
    public boolean contains(final BoundWindow window)
    {
        return at(number(window)) == window;
    }
}
