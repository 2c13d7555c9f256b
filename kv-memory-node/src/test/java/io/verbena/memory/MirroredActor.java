package io.verbena.memory;

import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.control.MemoryNodeClient;
import io.verbena.protocol.message.ChunkLease;
import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.protocol.mirror.GroupMembers;
import io.verbena.protocol.mirror.LeftLease;
import io.verbena.protocol.mirror.MirroredClaim;
import io.verbena.protocol.mirror.MirroredLease;
import io.verbena.protocol.mirror.MirroredReturn;
import io.verbena.raas.VirtualQp;
import io.verbena.raas.failure.Backoff;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.table.mirror.LeftChunk;
import io.verbena.table.mirror.MirrorGroup;
import org.agrona.concurrent.Agent;

import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * A compute node that leases, uses and returns chunks of groups, and of single memory nodes, and reclaims what others
 * have left; one thing at a time. The ledger says who uses what.
 */
final class MirroredActor implements Agent
{
    private static final long TIMEOUT_NS = 1_000_000;
    private static final long LIMIT_NS = 6_000_000;

    /** One group, as this node reaches it. */
    private final class Group implements GroupMembers
    {
        private final MirrorGroup group;
        /** Places of the members among the memory nodes, by ascending node id. */
        private final int[] nodes;
        private final MirroredLease lease = new MirroredLease(this, TIMEOUT_NS, backoff());
        private final MirroredReturn returning = new MirroredReturn(this, TIMEOUT_NS, backoff());
        private final LeftLease left = new LeftLease(this, TIMEOUT_NS, backoff());
        private final MirroredClaim claim = new MirroredClaim(this, TIMEOUT_NS, backoff());

        private Group(final MirrorGroup group)
        {
            this.group = group;
            nodes = group.askingOrder().stream().mapToInt(ledger::place).toArray();
        }

        @Override
        public int count()
        {
            return nodes.length;
        }

        @Override
        public int primary()
        {
            return group.askingOrder().indexOf(group.primary());
        }

        @Override
        public MemoryNodeClient client(final int member)
        {
            return MirroredActor.this.client(nodes[member]);
        }

        private MirroredChunk chunk(final int index, final long view, final long count)
        {
            return new MirroredChunk(group.number(), view, index, SimControlPlane.CHUNK_LENGTH_BYTES, count);
        }
    }

    /** A lease that this node has. */
    private record Held(Group group, MirroredChunk chunk, long requestId)
    {
    }

    /** What is under way; null when nothing is. */
    private interface Work
    {
        boolean isOver(long nowNs);
    }

    final SimComputeNode compute;
    private final SimControlPlane plane;
    private final MirroredLedger ledger;
    private final RandomGenerator random;
    private final VirtualQp[] vqps;
    private final int[] incarnations;
    private final List<Group> groups = new ArrayList<>();
    private final List<Held> held = new ArrayList<>();
    /** Leases that may stand on some members: returned until all have answered. */
    private final List<Held> toReturn = new ArrayList<>();
    private Work work;
    private long requestId;
    boolean isEnding;
    int leased;
    int exhausted;
    int failed;
    int settled;
    int reclaimed;

    MirroredActor(
        final SimControlPlane plane, final MirroredLedger ledger, final List<MirrorGroup> groups)
    {
        this.plane = plane;
        this.ledger = ledger;
        random = plane.world.random();
        compute = plane.addComputeNode();
        vqps = new VirtualQp[plane.memoryNodes.size()];
        incarnations = new int[vqps.length];
        groups.forEach((group) -> this.groups.add(new Group(group)));
        compute.node.addAgent(this);
    }

    private Backoff backoff()
    {
        return new Backoff(20_000, 500_000, random);
    }

    PeerIdentity identity()
    {
        return compute.registration.identity();
    }

    /** Whether it holds nothing, and has nothing to return. */
    boolean isIdle()
    {
        return null == work && held.isEmpty() && toReturn.isEmpty();
    }

    private MemoryNodeClient client(final int place)
    {
        final MemoryNode memory = plane.memoryNodes.get(place);
        final VirtualQp vqp = vqps[place];
        final boolean isOld = null == vqp || VirtualQp.State.FAILED == vqp.state() ||
            incarnations[place] != memory.incarnation();
        if (isOld && !memory.isReady())
        {
            return null;
        }
        if (isOld)
        {
            if (null != vqp)
            {
                vqp.close();
            }
            incarnations[place] = memory.incarnation();
            vqps[place] = compute.connect(memory, plane.address(memory));
        }
        return compute.client(vqps[place]);
    }

    @Override
    public int doWork()
    {
        if (compute.lost || !plane.metaServer.isKnown(identity()))
        {
            return 0;
        }
        final long nowNs = compute.raas.clock().nanoTime();
        if (null != work)
        {
            work = work.isOver(nowNs) ? null : work;
            return 1;
        }
        begin(nowNs);
        return null == work ? 0 : 1;
    }

    private void begin(final long nowNs)
    {
        final Group group = groups.get(random.nextInt(groups.size()));
        final int choice = random.nextInt(8);
        if (!toReturn.isEmpty() && (isEnding || choice == 0))
        {
            returnLease(toReturn.removeFirst(), nowNs);
        }
        else if (!held.isEmpty() && (isEnding || choice < 3))
        {
            final Held given = held.remove(random.nextInt(held.size()));
            ledger.release(given.group.nodes, given.chunk.index(), identity());
            returnLease(given, nowNs);
        }
        else if (isEnding || choice == 3)
        {
            reclaim(group, nowNs);
        }
        else if (choice == 4)
        {
            leaseAlone(random.nextInt(vqps.length));
        }
        else
        {
            lease(group, nowNs);
        }
    }

    private void lease(final Group group, final long nowNs)
    {
        group.lease.begin(group.chunk(random.nextInt(ledger.chunks()), 1, 0),
            random.nextBoolean() ? ChunkPurpose.BLOCKS : ChunkPurpose.INDEX, ++requestId, nowNs, LIMIT_NS);
        work = (now) ->
        {
            group.lease.poll(now);
            switch (group.lease.state())
            {
                case LEASED ->
                {
                    leased++;
                    ledger.take(group.nodes, group.lease.chunk().index(), identity());
                    held.add(new Held(group, group.lease.chunk(), 0));
                }
                case EXHAUSTED -> exhausted++;
                case FAILED ->
                {
                    failed++;
                    if (null != group.lease.left())
                    {
                        toReturn.add(new Held(group, group.lease.left(), group.lease.requestId()));
                    }
                }
                default ->
                {
                    return false;
                }
            }
            return true;
        };
    }

    private void returnLease(final Held given, final long nowNs)
    {
        given.group.returning.begin(given.chunk, given.requestId, given.group.count() - 1);
        work = (now) ->
        {
            given.group.returning.poll(now);
            final boolean isOver = given.group.returning.isDone() || now - nowNs > LIMIT_NS;
            if (isOver && !given.group.returning.isDone())
            {
                toReturn.add(given);
            }
            return isOver;
        };
    }

    /** One chunk of one memory node, returned at once; each call is made until it is answered. */
    private void leaseAlone(final int place)
    {
        final long number = ++requestId;
        work = new Work()
        {
            private ControlCall<ChunkLease> leasing;
            private ControlCall<Void> returning;
            private ChunkLease lease;

            @Override
            public boolean isOver(final long nowNs)
            {
                final MemoryNodeClient client = client(place);
                if (null != client && null == lease && (null == leasing || leasing.isDone()))
                {
                    if (null != leasing && ControlStatus.OK == leasing.status())
                    {
                        lease = leasing.result();
                        final int index = ledger.index(lease.runs().getFirst().offset());
                        ledger.take(new int[]{place}, index, identity());
                        ledger.release(new int[]{place}, index, identity());
                        return false;
                    }
                    if (null != leasing && ControlStatus.EXHAUSTED == leasing.status())
                    {
                        return true;
                    }
                    leasing = client.leaseChunks(number, ChunkPurpose.BLOCKS, 1, false, TIMEOUT_NS);
                }
                else if (null != client && null != lease && (null == returning || returning.isDone()))
                {
                    if (null != returning && !returning.status().isUnknown())
                    {
                        return true;
                    }
                    returning = client.returnChunks(lease.runs(), lease.newestLease(), TIMEOUT_NS);
                }
                return false;
            }
        };
    }

    private void reclaim(final Group group, final long nowNs)
    {
        final List<LeftChunk> found = LeftChunk.find(group.group.number(), ledger.views(group.nodes));
        if (found.isEmpty())
        {
            return;
        }
        final LeftChunk any = found.get(random.nextInt(found.size()));
        final MirroredChunk chunk = group.chunk(any.index(), any.view(), any.count());
        if (any.isEverywhere())
        {
            reclaimComplete(group, chunk, nowNs);
            return;
        }
        group.left.begin(chunk);
        work = (now) ->
        {
            group.left.poll(now);
            final boolean isOver =
                LeftLease.State.ASKING != group.left.state() && LeftLease.State.RETURNING != group.left.state();
            settled += LeftLease.State.RETURNED == group.left.state() ? 1 : 0;
            return isOver || now - nowNs > LIMIT_NS;
        };
    }

    /** Nothing in it is named in these runs. An index whose node has ended everywhere needs no claim. */
    private void reclaimComplete(final Group group, final MirroredChunk chunk, final long nowNs)
    {
        if (ledger.isIndex(group.nodes[0], chunk.index()))
        {
            returnLease(new Held(group, chunk, 0), nowNs);
            return;
        }
        group.claim.claim(chunk);
        work = (now) ->
        {
            group.claim.poll(now);
            if (MirroredClaim.State.DONE == group.claim.state())
            {
                reclaimed++;
                toReturn.add(new Held(group, chunk, 0));
            }
            return MirroredClaim.State.ASKING != group.claim.state() || now - nowNs > LIMIT_NS;
        };
    }

    @Override
    public String roleName()
    {
        return "mirrored";
    }
}
