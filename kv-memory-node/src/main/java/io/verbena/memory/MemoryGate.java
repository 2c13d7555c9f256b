package io.verbena.memory;

import io.verbena.protocol.control.MemoryNodeDispatcher;
import io.verbena.protocol.control.MemoryNodeService;
import io.verbena.protocol.view.LeftView;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.raas.Admission;
import io.verbena.raas.RaasContext;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.RpcServer;
import io.verbena.raas.identity.IdentityVerifier;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.RdmaException;

import java.util.List;
import java.util.function.Supplier;

/**
 * Every way into a memory node's region: its connections with their keys, and its read target. Calls are taken while it
 * is open; the region is changed only by nodes that were admitted, each under a key of its own. Once it is closed no
 * access lands any more. Owned by the node's thread; time comes in.
 */
final class MemoryGate implements MemoryAnswers.Views, AutoCloseable
{
    private final RaasContext raas;
    private final IdentityKeys keys;
    private final int servicePort;
    private final MemoryNodeService service;
    private final IdentityVerifier verifier;
    private final Supplier<String> state;
    private final LeasedReadTarget readTarget;
    private GroupCoverage coverage = new GroupCoverage();
    private MemoryViews views;
    private RpcServer server;
    private ComputeAdmission admission;
    private List<PeerIdentity> expected = List.of();
    private boolean isPreparing;
    private boolean isClosing;
    private long tryAtNs;

    /**
     * Opens it: fence calls must be heard from before the registration on.
     *
     * @param verifier what proves an identity here, null for one that nothing can prove.
     * @param state    of the node, for those who are not let in.
     */
    MemoryGate(
        final RaasContext raas, final MemoryRegion region, final int servicePort, final MemoryNodeService service,
        final IdentityVerifier verifier, final Supplier<String> state)
    {
        this.raas = raas;
        keys = new IdentityKeys(raas.protectionDomain(), region);
        this.servicePort = servicePort;
        this.service = service;
        this.verifier = verifier;
        this.state = state;
        readTarget = new LeasedReadTarget(raas);
        open();
    }

    /** Before anybody is let in: says what hears of it when a group's chunks may be changed by who makes them equal. */
    void cover(final GroupCoverage groups)
    {
        coverage = groups;
    }

    /** Takes calls; nodes are let in once {@link #admit} says which. */
    void open()
    {
        views = new MemoryViews(keys);
        server = raas.serve(servicePort, this::onConnect, verifier, new MemoryNodeDispatcher(service));
        readTarget.open();
    }

    /** @return through which the region can be read before connecting; of this opening. */
    ReadTargetAddress readTarget()
    {
        return readTarget.address();
    }

    /** From now on these nodes are let in. */
    void admit(final ComputeAdmission nodes)
    {
        admission = nodes;
        server.incarnation(nodes.incarnation());
    }

    /** These identities may come: their keys are made ahead of time, by {@link #prepareNext}. */
    void expect(final List<PeerIdentity> identities)
    {
        isPreparing |= !expected.equals(identities);
        expected = identities;
    }

    /**
     * Makes one key ahead of time, since that may take long. One that cannot be made is made, or refused, when its node
     * connects.
     *
     * @return work done.
     */
    int prepareNext()
    {
        try
        {
            isPreparing = isPreparing && keys.prepareNext(expected);
        }
        catch (final RdmaException ex)
        {
            isPreparing = false;
        }
        return isPreparing ? 1 : 0;
    }

    /** @return keys made ahead of time, which nobody has yet. */
    int preparedKeys()
    {
        return keys.preparedCount();
    }

    /** From now on nobody is let in; {@link #tryToClose} closes what is open. */
    void beginToClose(final long nowNs)
    {
        admission = null;
        coverage.lost();
        expect(List.of());
        isPreparing = false;
        isClosing = true;
        tryAtNs = nowNs;
    }

    /** @return whether it is to be closed, and is not yet. */
    boolean isClosing()
    {
        return isClosing;
    }

    /** @return whether it may be tried to close it now. */
    boolean isDue(final long nowNs)
    {
        return tryAtNs - nowNs <= 0;
    }

    /**
     * Closes every connection and key: neither can be closed while a stopped requester is inside the region.
     *
     * @param nextTryNs when it is due again, if it cannot be closed.
     * @return why it could not be closed; empty when it is.
     */
    String tryToClose(final long nextTryNs)
    {
        try
        {
            close();
        }
        catch (final RdmaException ex)
        {
            tryAtNs = nextTryNs;
            return String.valueOf(ex.getMessage());
        }
        isClosing = false;
        return "";
    }

    /**
     * Fences a node: it is refused from now on, and its keys, and those of its earlier incarnations, are closed. Its
     * queue pairs stay.
     *
     * @return keys closed; no access of the node lands any more.
     */
    int fence(final PeerIdentity identity)
    {
        // In this order: nobody gets a key that was just closed.
        server.refuse(identity);
        views.forget(identity);
        return keys.revoke(identity);
    }

    @Override
    public boolean close(final View view)
    {
        final boolean isClosed = views.close(view);

        if (isClosed)
        {
            coverage.closed(view.group(), view.number());
        }

        return isClosed;
    }

    @Override
    public boolean fill(final View view)
    {
        coverage.changed(view.group(), view.number());
        return views.fill(view);
    }

    @Override
    public boolean isLate(final PeerIdentity node, final int group)
    {
        return views.isLate(node, group);
    }

    /** What a fenced node says is not kept. */
    @Override
    public List<LeftView> name(final PeerIdentity node, final List<LeftView> left)
    {
        return isAdmitted(node) ? views.name(node, left) : List.of();
    }

    @Override
    public RemoteRegion reconcilerKey(final PeerIdentity node, final ViewAttempt attempt)
    {
        if (!mayReconcile(node, attempt))
        {
            return null;
        }

        coverage.changed(attempt.group(), attempt.number());
        return RemoteRegion.of(keys.grantReconciler(node, attempt.group()));
    }

    @Override
    public boolean mayReleaseLeases(final PeerIdentity node, final ViewAttempt attempt)
    {
        return mayReconcile(node, attempt) && views.comesInto(attempt.group(), admission.incarnation());
    }

    @Override
    public boolean mayEnterLeases(final PeerIdentity node, final ViewAttempt attempt)
    {
        return mayReleaseLeases(node, attempt) ||
            isAdmitted(node) && views.isFilledBy(node, attempt, admission.incarnation());
    }

    private boolean mayReconcile(final PeerIdentity node, final ViewAttempt attempt)
    {
        return isAdmitted(node) && views.mayReconcile(node, attempt.group(), attempt.number(), attempt.attempt());
    }

    /** A fenced node may have connections still. */
    @Override
    public boolean isAdmitted(final PeerIdentity node)
    {
        return null != admission && admission.admits(node) && !server.isFenced(node);
    }

    /** @return connections refused, since it was opened last, because the peer did not prove who it is. */
    long refusedProofs()
    {
        return server.refusedProofs();
    }

    /** @return keys with which copies are made equal now. */
    int reconcilerKeys()
    {
        return keys.reconcilerCount();
    }

    /** @return whether a node has a key to the region. */
    boolean hasKey(final PeerIdentity identity)
    {
        return keys.has(identity);
    }

    private Admission onConnect(final PeerIdentity caller, final DeviceAddress source)
    {
        if (0 == caller.nodeId())
        {
            return Admission.callsOnly();
        }

        if (null == admission)
        {
            return Admission.refuse(state.get() + ": try again later");
        }

        if (!admission.admits(caller))
        {
            return Admission.refuse(caller + " is not a member: register at the meta server");
        }

        if (!views.mayHaveKey(caller))
        {
            // It names what it has left over this connection, and gets a key over the next.
            return Admission.callsOnly();
        }

        try
        {
            return Admission.accept(AccessFlags.ALL_REMOTE, new byte[0], keys.grant(caller));
        }
        catch (final RdmaException ex)
        {
            return Admission.refuse("no key to the region for " + caller + ", " + keys.count() + " have one: " +
                ex.getMessage());
        }
    }

    @Override
    public void close()
    {
        readTarget.close();
        server.close();
        keys.close();
    }
}
