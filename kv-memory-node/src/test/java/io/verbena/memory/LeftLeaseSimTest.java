package io.verbena.memory;

import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.control.MemoryNodeClient;
import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.MemoryNodeStat;
import io.verbena.protocol.message.MirrorAction;
import io.verbena.protocol.message.MirrorAnswer;
import io.verbena.protocol.message.MirrorAnswer.Outcome;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.protocol.mirror.GroupMembers;
import io.verbena.protocol.mirror.LeftLease;
import io.verbena.protocol.mirror.MirroredClaim;
import io.verbena.protocol.mirror.MirroredLease;
import io.verbena.protocol.mirror.MirroredReturn;
import io.verbena.raas.VirtualQp;
import io.verbena.raas.failure.Backoff;
import io.verbena.test.Mutation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Single leases of a group of two memory nodes, step by step. */
class LeftLeaseSimTest
{
    private static final long TIMEOUT_NS = 1_000_000;
    private static final long LIMIT_NS = 5_000_000;
    private static final MirroredChunk ANY = new MirroredChunk(7, 1, 3, SimControlPlane.CHUNK_LENGTH_BYTES, 0);

    private final SimControlPlane plane = new SimControlPlane(1, new InMemoryMetaStore(), 2);
    private final SimComputeNode ann = plane.addComputeNode();
    private final Members annsMembers = new Members(ann);
    private final Members bensMembers = new Members(plane.addComputeNode());

    /** Places are those of the memory nodes. */
    private final class Members implements GroupMembers
    {
        private final VirtualQp[] vqps = new VirtualQp[2];
        private final SimComputeNode compute;
        private boolean isCutOff;

        private Members(final SimComputeNode compute)
        {
            this.compute = compute;
        }

        @Override
        public int count()
        {
            return vqps.length;
        }

        @Override
        public int primary()
        {
            return 1;
        }

        @Override
        public MemoryNodeClient client(final int member)
        {
            final MemoryNode memory = plane.memoryNodes.get(member);
            if (null == vqps[member] || VirtualQp.State.FAILED == vqps[member].state())
            {
                vqps[member] = memory.isReady() ? compute.connect(memory, plane.address(memory)) : null;
            }
            return null == vqps[member] || isCutOff ? null : compute.client(vqps[member]);
        }
    }

    @AfterEach
    void close()
    {
        plane.close();
    }

    private long nowNs()
    {
        return plane.world.clock().nanoTime();
    }

    private Backoff backoff()
    {
        return new Backoff(20_000, 500_000, plane.world.random());
    }

    private MirroredLease lease(final MirroredChunk wanted)
    {
        return lease(annsMembers, wanted, ChunkPurpose.INDEX, 1);
    }

    private MirroredLease lease(
        final Members members, final MirroredChunk wanted, final ChunkPurpose purpose, final long requestId)
    {
        final MirroredLease lease = new MirroredLease(members, TIMEOUT_NS, backoff());
        lease.begin(wanted, purpose, requestId, nowNs(), LIMIT_NS);
        return await(lease);
    }

    private MirroredLease await(final MirroredLease lease)
    {
        plane.runUntil(() ->
        {
            lease.poll(nowNs());
            return switch (lease.state())
            {
                case LEASED, EXHAUSTED, FAILED -> true;
                default -> false;
            };
        });
        return lease;
    }

    /** Anns, which has an index, and whose requests to record it reach nobody. */
    private MirroredLease leaseWithoutEffect()
    {
        final MirroredLease lease = new MirroredLease(annsMembers, TIMEOUT_NS, backoff());
        lease.begin(ANY, ChunkPurpose.INDEX, 1, nowNs(), LIMIT_NS);
        plane.runUntil(() ->
        {
            lease.poll(nowNs());
            return MirroredLease.State.RECORDING == lease.state();
        });
        annsMembers.isCutOff = true;
        return lease;
    }

    private String giveBack(final Members members, final MirroredChunk chunk, final long requestId)
    {
        final MirroredReturn returning = new MirroredReturn(members, TIMEOUT_NS, backoff());
        returning.begin(chunk, requestId, 1);
        plane.runUntil(() ->
        {
            returning.poll(nowNs());
            return returning.isDone();
        });
        return returning.refusal();
    }

    private LeftLease.State settle(final MirroredChunk chunk)
    {
        final LeftLease left = new LeftLease(bensMembers, TIMEOUT_NS, backoff());
        left.begin(chunk);
        plane.runUntil(() ->
        {
            left.poll(nowNs());
            return LeftLease.State.ASKING != left.state() && LeftLease.State.RETURNING != left.state();
        });
        return left.state();
    }

    private Outcome ask(final int member, final MirrorAction action, final MirroredChunk chunk)
    {
        final ControlCall<MirrorAnswer> call =
            annsMembers.client(member).mirrorChunk(action, chunk, ChunkPurpose.INDEX, 1, TIMEOUT_NS);
        plane.runUntil(call::isDone);
        return call.result().outcome();
    }

    private int taken(final int member)
    {
        final MemoryNodeStat stat = plane.memoryNodes.get(member).stat();
        return stat.chunkCount() - stat.freeChunkCount();
    }

    @Test
    void shouldLeaveACompleteLeaseAlone()
    {
        final MirroredLease lease = lease(ANY);
        assertThat(lease.state()).isEqualTo(MirroredLease.State.LEASED);
        assertThat(lease.chunk()).isEqualTo(ANY.at(3, 1));
        assertThat(settle(lease.chunk())).isEqualTo(LeftLease.State.COMPLETE);
        assertThat(taken(0)).isEqualTo(1);
        assertThat(taken(1)).isEqualTo(1);
        try (Mutation.Opened _ = MirrorLeaseMutation.REFUSED_FIRST.open())
        {
            assertThat(settle(lease.chunk())).isEqualTo(LeftLease.State.RETURNED);
        }
        assertThat(taken(0)).as("it is in use").isZero();
        assertThat(taken(1)).isZero();
    }

    @Test
    void shouldReturnWhatIsNotCompleteAndKeepItSo()
    {
        assertThat(ask(0, MirrorAction.RECORD, ANY.at(3, 1))).isEqualTo(Outcome.DONE);
        assertThat(settle(ANY.at(3, 1))).isEqualTo(LeftLease.State.RETURNED);
        assertThat(taken(0)).isZero();
        assertThat(ask(1, MirrorAction.RECORD, ANY.at(3, 1))).as("late").isEqualTo(Outcome.OUTDATED);
        assertThat(ask(0, MirrorAction.RECORD, ANY.at(3, 1))).as("late").isEqualTo(Outcome.OUTDATED);

        final MirroredLease next = lease(ANY);
        assertThat(next.chunk()).as("under a larger count, known to one member only").isEqualTo(ANY.at(3, 2));
    }

    @Test
    void shouldTakeWhatIsFreeOnAllMembersAndGiveTheRestBack()
    {
        final MemoryNodeClient first = annsMembers.client(0);
        final ControlCall<?> most = first.leaseChunks(50, ChunkPurpose.BLOCKS, 15, false, TIMEOUT_NS);
        plane.runUntil(most::isDone);
        final MirroredLease lease = lease(ANY);
        assertThat(lease.state()).isEqualTo(MirroredLease.State.LEASED);
        assertThat(lease.chunk().index()).isEqualTo(15);
        assertThat(taken(1)).isEqualTo(1);

        assertThat(lease(ANY).state()).isEqualTo(MirroredLease.State.EXHAUSTED);
        assertThat(taken(0)).isEqualTo(16);
        assertThat(taken(1)).as("given back").isEqualTo(1);

        assertThat(giveBack(bensMembers, lease.chunk(), 0)).isEmpty();
        assertThat(taken(1)).isZero();
        assertThat(lease(ANY.at(16, 0)).chunk()).as("begins behind the last chunk").isEqualTo(ANY.at(15, 2));
    }

    @Test
    void shouldFailInTimeAndSayWhatIsLeftWhenAMemberIsSilent()
    {
        assertThat(annsMembers.client(0)).isNotNull();
        assertThat(annsMembers.client(1)).isNotNull();
        plane.world.runFor(2 * TIMEOUT_NS);
        plane.simNode(plane.memoryNodes.get(0)).pause();
        final long begunNs = nowNs();
        final MirroredLease lease = lease(ANY);
        assertThat(lease.state()).isEqualTo(MirroredLease.State.FAILED);
        assertThat(lease.failure()).contains("did not answer in time");
        assertThat(lease.left()).isEqualTo(ANY.at(3, 1));
        assertThat(nowNs() - begunNs).isLessThan(3 * LIMIT_NS);
    }

    @Test
    void shouldNotClaimWhatItsNodeStillHas()
    {
        final MirroredLease lease = lease(ANY);
        final MirroredClaim claim = new MirroredClaim(bensMembers, TIMEOUT_NS, backoff());
        claim.claim(lease.chunk());
        plane.runUntil(() ->
        {
            claim.poll(nowNs());
            return MirroredClaim.State.ASKING != claim.state();
        });
        assertThat(claim.state()).isEqualTo(MirroredClaim.State.TAKEN);
        claim.adopt(lease.chunk().at(3, 9));
        plane.runUntil(() ->
        {
            claim.poll(nowNs());
            return MirroredClaim.State.ASKING != claim.state();
        });
        assertThat(claim.state()).isEqualTo(MirroredClaim.State.ABSENT);
    }

    @Test
    void shouldFailWithWhatAMemberSays()
    {
        final MirroredLease lease = lease(new MirroredChunk(7, 1, 3, 1 << 20, 0));
        assertThat(lease.state()).isEqualTo(MirroredLease.State.FAILED);
        assertThat(lease.failure()).contains("is no chunk of this memory node");
        assertThat(lease.left()).isNull();
    }

    @Test
    void shouldSayWhatMayStandWhenTheViewIsOver()
    {
        final MirroredLease lease = new MirroredLease(annsMembers, TIMEOUT_NS, backoff());
        lease.begin(ANY, ChunkPurpose.BLOCKS, 1, nowNs(), LIMIT_NS);
        plane.runUntil(() ->
        {
            lease.poll(nowNs());
            return MirroredLease.State.RECORDING == lease.state() && 1 == taken(0);
        });
        lease.abandon();
        assertThat(lease.state()).isEqualTo(MirroredLease.State.FAILED);
        assertThat(lease.failure()).isEqualTo("the view is over");
        assertThat(lease.left()).isEqualTo(ANY.at(3, 1));
        assertThat(giveBack(annsMembers, lease.left(), lease.requestId())).isEmpty();
        assertThat(taken(0)).isZero();
        assertThat(taken(1)).isZero();
    }

    /** Choosing reserves nothing: who comes second gets the same name, be it another node or the same one. */
    @Test
    void shouldKeepALeaseWhenARequestOfTheSameNameIsReturned()
    {
        for (int i = 0; i < 2; i++)
        {
            final MirroredLease first = leaseWithoutEffect();
            first.abandon();
            annsMembers.isCutOff = false;
            final MirroredLease second = lease(0 == i ? bensMembers : annsMembers, ANY, ChunkPurpose.INDEX, 2);
            assertThat(second.state()).isEqualTo(MirroredLease.State.LEASED);
            assertThat(second.chunk()).isEqualTo(first.left());
            assertThat(giveBack(annsMembers, first.left(), first.requestId())).isEmpty();
            assertThat(taken(0)).isEqualTo(1);
            assertThat(taken(1)).isEqualTo(1);
            assertThat(giveBack(annsMembers, second.chunk(), 0)).isEmpty();
            assertThat(taken(0)).isZero();
        }
    }

    @Test
    void shouldKeepALeaseWhenARequestOfTheSameNameIsGivenBack()
    {
        final MirroredLease first = leaseWithoutEffect();
        final MirroredLease second = lease(bensMembers, ANY, ChunkPurpose.INDEX, 1);
        assertThat(second.chunk()).isEqualTo(first.chunk());
        cutOffUntilGivingBack(first);
        assertThat(first.left()).isNull();
        assertThat(taken(0)).isEqualTo(1);
        assertThat(taken(1)).isEqualTo(1);
    }

    private void cutOffUntilGivingBack(final MirroredLease lease)
    {
        plane.runUntil(() ->
        {
            lease.poll(nowNs());
            return MirroredLease.State.GIVING_BACK == lease.state();
        });
        annsMembers.isCutOff = false;
        await(lease);
        assertThat(lease.state()).isEqualTo(MirroredLease.State.FAILED);
        assertThat(lease.failure()).startsWith("a member did not answer in time");
    }

    /** The members compare no requests, as if they were older, so that they refuse. */
    @Test
    void shouldSayWhatIsLeftWhenAMemberRefusesToTakeItBack()
    {
        final MirroredLease first = leaseWithoutEffect();
        lease(bensMembers, ANY, ChunkPurpose.BLOCKS, 1);
        try (Mutation.Opened _ = MirrorLeaseMutation.OF_THE_REQUEST.open())
        {
            cutOffUntilGivingBack(first);
        }
        assertThat(first.failure()).contains("; not given back: ").contains("to return");
        assertThat(first.left()).isEqualTo(ANY.at(3, 1));
    }

    @Test
    void shouldNotSayThatItIsReturnedWhereAMemberKeepsIt()
    {
        final ControlCall<MirrorAnswer> call = annsMembers.client(0).mirrorChunk(
            MirrorAction.RECORD, ANY.at(3, 1), ChunkPurpose.BLOCKS, 1, TIMEOUT_NS);
        plane.runUntil(call::isDone);
        assertThat(settle(ANY.at(3, 1))).as("its node has not ended there").isEqualTo(LeftLease.State.UNKNOWN);
        assertThat(taken(0)).isEqualTo(1);
    }

    @Test
    void shouldTakeTheNextIndexWhereNoLargerCountIsLeft()
    {
        ask(0, MirrorAction.REFUSE, ANY.at(3, MirroredChunk.MAX_COUNT)); // the other chooses it, and does not know
        ask(1, MirrorAction.REFUSE, ANY.at(4, MirroredChunk.MAX_COUNT));
        final MirroredLease lease = lease(ANY);
        assertThat(lease.failure()).isEmpty();
        assertThat(lease.chunk()).isEqualTo(ANY.at(5, 1));
    }
}
