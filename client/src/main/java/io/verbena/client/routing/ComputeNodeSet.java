package io.verbena.client.routing;

import io.verbena.protocol.request.ComputeEndpoint;

import java.util.Arrays;
import java.util.Objects;

/**
 * The compute nodes that take operations now. Whoever starts and stops nodes keeps it up to date; clients read an
 * immutable view of it for each attempt, so a change costs them nothing and is seen by the next attempt. Thread-safe.
 */
public final class ComputeNodeSet
{
    private final Object writers = new Object();
    private volatile String absence = "there is no compute node";
    private volatile RoutingView view = new RoutingView(new ComputeEndpoint[0]);

    /**
     * Adds a node: attempts that begin after this returns may go to it.
     *
     * @param endpoint of a node that serves, not in the set.
     */
    public void add(final ComputeEndpoint endpoint)
    {
        Objects.requireNonNull(endpoint);
        synchronized (writers)
        {
            final ComputeEndpoint[] before = view.endpoints();
            for (final ComputeEndpoint other : before)
            {
                if (other.id() == endpoint.id())
                {
                    throw new IllegalArgumentException("compute node is in the set already: " + other);
                }
            }
            final ComputeEndpoint[] after = Arrays.copyOf(before, before.length + 1);
            after[before.length] = endpoint;
            view = new RoutingView(after);
        }
    }

    /**
     * Removes a node: attempts that begin after this returns do not go to it.
     *
     * @param endpoint of the node.
     * @return false if it was not in the set.
     */
    public boolean remove(final ComputeEndpoint endpoint)
    {
        synchronized (writers)
        {
            final ComputeEndpoint[] before = view.endpoints();
            final ComputeEndpoint[] after =
                Arrays.stream(before).filter((other) -> other != endpoint).toArray(ComputeEndpoint[]::new);
            if (after.length == before.length)
            {
                return false;
            }
            view = new RoutingView(after);
            return true;
        }
    }

    /**
     * Says why there is none, until it is said anew.
     *
     * @param reason for callers that find none.
     */
    void absence(final String reason)
    {
        absence = reason;
    }

    /** Why there is no node, for its callers. */
    String absence()
    {
        return absence;
    }

    /** @return how many nodes are in it. */
    public int count()
    {
        return view.count();
    }

    RoutingView view()
    {
        return view;
    }

    @Override
    public String toString()
    {
        return "ComputeNodeSet{" + view + '}';
    }
}
