package io.verbena.memory;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import org.agrona.collections.IntHashSet;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Keys to a memory node's region: the region is registered once for each identity that was admitted, and whoever is
 * fenced has his registration closed. Nothing lands with its key once that has returned, over whatever queue pair it
 * comes; all others go on. A key that was taken away is never given to anybody again, though the device may reuse it:
 * its holder may still have it, and a queue pair. One thread; closed before the region.
 */
final class IdentityKeys implements MemoryViews.Keys, AutoCloseable
{
    private final ProtectionDomain domain;
    private final MemoryRegion region;
    private final Map<PeerIdentity, MemoryRegion> registrations = new HashMap<>();
    /** Of nodes that make the copies of a group equal, by group. */
    private final Map<Integer, Reconciler> reconcilers = new HashMap<>();
    /** Nobody has these keys yet. */
    private final Map<PeerIdentity, MemoryRegion> prepared = new HashMap<>();
    private final IntHashSet revokedKeys = new IntHashSet();
    /** Have keys that were revoked before: as long as they are there, the device gives these keys to nobody. */
    private final List<MemoryRegion> ungranted = new ArrayList<>();

    private record Reconciler(PeerIdentity identity, MemoryRegion registration)
    {
    }

    /** @param region whose own key gives nobody the right to change anything. */
    IdentityKeys(final ProtectionDomain domain, final MemoryRegion region)
    {
        this.domain = domain;
        this.region = region;
    }

    /**
     * @param identity that was admitted, and not fenced.
     * @return its registration of the region, the same one for each of its connections; stays with this.
     * @throws io.verbena.rdma.verbs.RdmaException when the device cannot register the region once more.
     */
    MemoryRegion grant(final PeerIdentity identity)
    {
        return registrations.computeIfAbsent(identity, (_) ->
        {
            final MemoryRegion ready = prepared.remove(identity);
            return null == ready ? register() : ready;
        });
    }

    /**
     * Makes one key ahead of time, or gives one up that was made for an identity that may not come any more.
     *
     * @param spares identities that may come.
     * @return whether there may be more to do.
     * @throws io.verbena.rdma.verbs.RdmaException when the device cannot register the region once more, or close it.
     */
    boolean prepareNext(final List<PeerIdentity> spares)
    {
        for (final PeerIdentity identity : prepared.keySet())
        {
            if (!spares.contains(identity))
            {
                // Nobody was granted this key, so nobody is inside, and it need not be remembered.
                prepared.get(identity).close();
                prepared.remove(identity);
                return true;
            }
        }
        for (final PeerIdentity identity : spares)
        {
            if (!registrations.containsKey(identity) && !prepared.containsKey(identity))
            {
                prepared.put(identity, register());
                return true;
            }
        }
        return false;
    }

    /** @return keys that nobody has yet. */
    int preparedCount()
    {
        return prepared.size();
    }

    private MemoryRegion register()
    {
        MemoryRegion registered = domain.register(region.segment(), AccessFlags.ALL_REMOTE);
        while (revokedKeys.contains(registered.remoteKey()))
        {
            ungranted.add(registered);
            registered = domain.register(region.segment(), AccessFlags.ALL_REMOTE);
        }
        return registered;
    }

    /** @return whether an identity has a key. */
    boolean has(final PeerIdentity identity)
    {
        return registrations.containsKey(identity);
    }

    /** @return how many nodes have one to make copies equal. */
    int reconcilerCount()
    {
        return reconcilers.size();
    }

    /** @return how many identities have one. */
    int count()
    {
        return registrations.size();
    }

    /**
     * Closes the keys of one incarnation of a node, and of earlier ones.
     *
     * @return how many were closed.
     * @throws io.verbena.rdma.verbs.RdmaException when a requester does not leave the memory: that key is closed for
     *                                             everybody who comes later, and has to be revoked again.
     */
    int revoke(final PeerIdentity identity)
    {
        final List<PeerIdentity> ended = new ArrayList<>();
        for (final PeerIdentity held : registrations.keySet())
        {
            if (held.nodeId() == identity.nodeId() && held.incarnation() <= identity.incarnation())
            {
                ended.add(held);
            }
        }
        ended.forEach(this::close);
        int closed = ended.size();
        for (final Map.Entry<Integer, Reconciler> held : List.copyOf(reconcilers.entrySet()))
        {
            final PeerIdentity holder = held.getValue().identity;
            if (holder.nodeId() == identity.nodeId() && holder.incarnation() <= identity.incarnation())
            {
                closeReconciler(held.getKey());
                closed++;
            }
        }
        return closed;
    }

    /**
     * @param identity that was admitted, not fenced, and named by the meta server.
     * @param group    whose copies it makes equal; nobody else has a key for that.
     * @return its registration of the region for that alone; stays with this.
     * @throws io.verbena.rdma.verbs.RdmaException when the device cannot register the region once more.
     */
    MemoryRegion grantReconciler(final PeerIdentity identity, final int group)
    {
        return reconcilers.computeIfAbsent(group, (_) -> new Reconciler(identity, register())).registration;
    }

    @Override
    public void closeReconciler(final int group)
    {
        final Reconciler held = reconcilers.get(group);
        if (null != held)
        {
            close(held.registration);
            reconcilers.remove(group);
        }
    }

    @Override
    public void closeAll()
    {
        List.copyOf(registrations.keySet()).forEach(this::close);
    }

    private void close(final PeerIdentity identity)
    {
        // Forgotten when it is closed and not before: a fence that could not be completed is repeated.
        close(registrations.get(identity));
        registrations.remove(identity);
    }

    private void close(final MemoryRegion registration)
    {
        revokedKeys.add(registration.remoteKey());
        registration.close();
    }

    /** Closes all; when it throws, try again. */
    @Override
    public void close()
    {
        while (prepareNext(List.of()))
        {
            // Gives up what was prepared, one at a time.
        }
        closeAll();
        List.copyOf(reconcilers.keySet()).forEach(this::closeReconciler);
        while (!ungranted.isEmpty())
        {
            ungranted.getLast().close();
            ungranted.removeLast();
        }
    }
}
