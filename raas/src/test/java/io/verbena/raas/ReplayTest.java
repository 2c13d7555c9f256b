package io.verbena.raas;

import io.verbena.raas.completion.Replays;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.limit.RaasMisuseException;
import io.verbena.raas.rpc.RpcStatus;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.lang.foreign.ValueLayout;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** One queue pair of {@code soft} that breaks: what its virtual queue pairs see. */
class ReplayTest
{
    private static final long REPLAY_NS = 2_000_000_000L;

    @TempDir
    Path directory;
    private SoftPair pair;
    private MemoryRegion trap;
    private final RecordingListener first = new RecordingListener();
    private final RecordingListener second = new RecordingListener();

    @BeforeEach
    void setUp()
    {
        open(new RaasConfiguration().replayTimeoutNs(REPLAY_NS));
    }

    private void open(final RaasConfiguration forClient)
    {
        open(new PeerIdentity(1, 1), forClient);
    }

    private void open(final PeerIdentity ofServer, final RaasConfiguration forClient)
    {
        pair = new SoftPair(directory, new RaasConfiguration().identity(ofServer), forClient);
        trap = pair.server.protectionDomain().allocateRegistered(64, AccessFlags.ALL_REMOTE);
        pair.admission = Admission.accept(AccessFlags.ALL_REMOTE, new byte[]{42}, pair.served, trap);
        pair.servedWord(8, 42);
    }

    @AfterEach
    void tearDown()
    {
        trap.close();
        pair.close();
    }

    private int read(final VirtualQp vqp, final int cookie)
    {
        vqp.begin();
        vqp.read(pair.local, 0, Long.BYTES, pair.remote(), 8);
        return vqp.complete(cookie);
    }

    private int add(final VirtualQp vqp, final int cookie)
    {
        vqp.begin();
        vqp.fetchAdd(pair.local, 16, pair.remote(), 8, 1);
        return vqp.complete(cookie);
    }

    private int spring(final VirtualQp vqp, final int cookie, final boolean isRead)
    {
        vqp.begin();
        if (isRead)
        {
            vqp.read(pair.local, 32, Long.BYTES, vqp.peerRegions().get(1), 0);
        }
        else
        {
            vqp.write(pair.local, 32, Long.BYTES, vqp.peerRegions().get(1), 0);
        }
        return vqp.complete(cookie);
    }

    private static void assertPosted(final int status)
    {
        assertThat(status).isEqualTo(PostStatus.OK);
    }

    @Test
    void shouldPostAgainWhatIsBehindARefusedRequestAndFailItsOwnerOnly()
    {
        final VirtualQp offender = pair.connect(first);
        final VirtualQp bystander = pair.connect(second);
        trap.close();
        assertPosted(add(bystander, 1));
        assertPosted(spring(offender, 1, false));
        assertPosted(add(offender, 2));
        assertPosted(add(bystander, 2));
        assertPosted(read(bystander, 3));
        assertPosted(add(bystander, 4));
        pair.admission = Admission.accept(AccessFlags.ALL_REMOTE, new byte[]{43}, pair.served);
        pair.runUntil(() -> offender.state() == VirtualQp.State.FAILED);
        assertThat(bystander.isReady()).isTrue();
        assertThat(bystander.space()).isZero();
        assertThat(bystander.carriesWrites()).isFalse();
        assertThat(bystander.transport()).isEqualTo("none");
        assertThat(bystander.peerPrivateData()).containsExactly(42);
        assertThat(read(bystander, 5)).isEqualTo(PostStatus.QUEUE_FULL);
        assertThat(add(bystander, 5)).isEqualTo(PostStatus.QUEUE_FULL);
        bystander.preload(0, 64);
        pair.runUntil(() -> second.cookies().size() == 4);
        assertThat(first.cookies()).containsExactly(1, 2);
        assertThat(first.statuses()).containsExactly(
            WorkCompletionStatus.REM_ACCESS_ERR, WorkCompletionStatus.WR_FLUSH_ERR);
        assertThat(second.cookies()).containsExactly(1, 2, 3, 4);
        assertThat(second.statuses()).containsOnly(WorkCompletionStatus.SUCCESS);
        assertThat(pair.servedWord(8)).as("3 additions").isEqualTo(45);
        assertThat(pair.localWord(0)).as("between the second and the third").isEqualTo(44);
        assertThat(pair.localWord(16)).as("found by the third").isEqualTo(44);
        assertThat(bystander.peerPrivateData()).containsExactly(43);
        assertThat(pair.client.replays()).isEqualTo(new Replays(1, 3, 0));
        assertThat(pair.client.openBatches()).isZero();
    }

    @Test
    void shouldNotPostWhatMayHaveBeenExecutedBehindARefusedRead()
    {
        final VirtualQp offender = pair.connect(first);
        final VirtualQp bystander = pair.connect(second);
        trap.close();
        assertPosted(spring(offender, 1, true));
        assertPosted(read(bystander, 1));
        assertPosted(add(bystander, 2));
        assertPosted(add(offender, 2));
        pair.admission = Admission.accept(AccessFlags.ALL_REMOTE, new byte[0], pair.served);
        pair.runUntil(() -> second.cookies().size() == 2);
        assertThat(second.cookies()).containsExactly(1, 2);
        assertThat(second.statuses()).containsExactly(
            WorkCompletionStatus.SUCCESS, BatchListener.OUTCOME_UNKNOWN);
        assertThat(first.statuses()).containsExactly(
            WorkCompletionStatus.REM_ACCESS_ERR, BatchListener.OUTCOME_UNKNOWN);
        assertThat(bystander.isReady()).isTrue();
        assertThat(bystander.unknownOutcomes()).isEqualTo(1);
        assertThat(offender.unknownOutcomes()).isEqualTo(1);
        assertPosted(add(bystander, 3));
        pair.runUntil(() -> second.cookies().size() == 3);
        assertThat(pair.servedWord(8)).as("soft executes nothing behind a refused READ either").isEqualTo(43);
        assertThat(pair.client.replays()).isEqualTo(new Replays(1, 1, 2));
    }

    @Test
    void shouldReadAgainWhenThePeerHasClosedItsEnd()
    {
        final VirtualQp vqp = pair.connect(first);
        pair.rpcServer.close();
        pair.serve();
        assertPosted(read(vqp, 1));
        assertPosted(add(vqp, 2));
        assertPosted(read(vqp, 3));
        pair.runUntil(() -> first.cookies().size() == 3);
        assertThat(first.cookies()).containsExactly(1, 2, 3);
        assertThat(first.statuses()).containsExactly(WorkCompletionStatus.SUCCESS,
            BatchListener.OUTCOME_UNKNOWN, WorkCompletionStatus.SUCCESS);
        assertThat(vqp.state()).isEqualTo(VirtualQp.State.READY);
        assertPosted(add(vqp, 4));
        pair.runUntil(() -> first.cookies().size() == 4);
        assertThat(pair.servedWord(8)).isEqualTo(43);
        assertThat(pair.client.replays()).isEqualTo(new Replays(1, 2, 1));
    }

    @Test
    void shouldPostNothingAgainToAnotherIncarnation()
    {
        final VirtualQp offender = pair.connect(first);
        final VirtualQp bystander = pair.connect(second);
        trap.close();
        assertPosted(spring(offender, 1, false));
        assertPosted(add(bystander, 1));
        pair.admission = Admission.accept(AccessFlags.ALL_REMOTE, new byte[0], pair.served);
        pair.rpcServer.incarnation(2);
        pair.runUntil(() -> bystander.state() == VirtualQp.State.FAILED);
        assertThat(bystander.failure()).contains("incarnation 2, not 1");
        assertThat(second.statuses()).containsExactly(WorkCompletionStatus.WR_FLUSH_ERR);
        assertThat(pair.servedWord(8)).isEqualTo(42);
        assertThat(pair.connect(second).carriesWrites()).isTrue();
    }

    @Test
    void shouldFailAllAtOnceWhenThePeerDoesNotSayWhichIncarnationItIs()
    {
        pair.rpcServer.incarnation(0);
        shouldFailAllAtOnce();
    }

    /** What stands for its incarnation then is the same in each of its lives. */
    @Test
    void shouldFailAllAtOnceWhenThePeerHasNoNumber()
    {
        tearDown();
        open(PeerIdentity.META_SERVER, new RaasConfiguration().replayTimeoutNs(REPLAY_NS));
        shouldFailAllAtOnce();
    }

    private void shouldFailAllAtOnce()
    {
        final VirtualQp offender = pair.connect(first);
        final VirtualQp bystander = pair.connect(second);
        trap.close();
        assertPosted(spring(offender, 1, false));
        assertPosted(add(bystander, 1));
        pair.runUntil(() -> offender.state() == VirtualQp.State.FAILED);
        assertThat(bystander.state()).isEqualTo(VirtualQp.State.FAILED);
        assertThat(second.statuses()).containsExactly(WorkCompletionStatus.WR_FLUSH_ERR);
        assertThat(pair.client.replays()).isEqualTo(Replays.NONE);
    }

    @Test
    void shouldEndEverythingWhenThePeerRefusesAnotherConnection()
    {
        final VirtualQp offender = pair.connect(first);
        final VirtualQp bystander = pair.connect(second);
        trap.close();
        assertPosted(spring(offender, 1, true));
        assertPosted(read(bystander, 1));
        assertPosted(add(bystander, 2));
        assertPosted(read(bystander, 3));
        pair.admission = Admission.refuse("not again");
        pair.runUntil(() -> bystander.state() == VirtualQp.State.FAILED);
        assertThat(bystander.failure()).contains("not again");
        assertThat(second.cookies()).containsExactly(1, 2, 3);
        assertThat(second.statuses()).containsExactly(WorkCompletionStatus.WR_FLUSH_ERR,
            BatchListener.OUTCOME_UNKNOWN, WorkCompletionStatus.WR_FLUSH_ERR);
        assertThat(pair.client.openBatches()).isZero();
    }

    @Test
    void shouldPostNothingAgainUnderAGrantThatIsOver()
    {
        final VirtualQp offender = pair.connect(first);
        final VirtualQp bystander = pair.connect(second);
        bystander.grantedUntil(1_000);
        trap.close();
        pair.client.poll(999);
        assertPosted(spring(offender, 1, false));
        assertPosted(add(bystander, 1));
        pair.admission = Admission.accept(AccessFlags.ALL_REMOTE, new byte[0], pair.served);
        pair.client.poll(1_000);
        pair.runUntil(() -> bystander.state() == VirtualQp.State.FAILED);
        assertThat(bystander.failure()).contains("the grant ended");
        assertThat(second.statuses()).containsExactly(WorkCompletionStatus.WR_FLUSH_ERR);
        assertThat(pair.servedWord(8)).isEqualTo(42);
    }

    @Test
    void shouldPostNothingAgainThatThePeerGrantsNoLonger()
    {
        final VirtualQp offender = pair.connect(first);
        final VirtualQp bystander = pair.connect(second);
        final VirtualQp other = pair.connect(second);
        trap.close();
        assertPosted(spring(offender, 1, false));
        assertPosted(add(bystander, 1));
        assertPosted(read(other, 2));
        // The right to READ, and no other.
        pair.admission = Admission.accept(AccessFlags.REMOTE_READ, new byte[0], pair.served);
        pair.runUntil(() -> second.cookies().size() == 2);
        assertThat(bystander.failure()).contains("other memory");
        assertThat(second.cookies()).containsExactly(1, 2);
        assertThat(second.statuses()).containsExactly(
            WorkCompletionStatus.WR_FLUSH_ERR, WorkCompletionStatus.SUCCESS);
        assertThat(other.isReady()).isTrue();
        assertThat(pair.client.usage().queuePairs()).isEqualTo(1);
    }

    /** Also one that had nothing under way when the queue pair broke: its owner has done nothing wrong. */
    @Test
    void shouldFailAnIdleOneWhenThePeerGrantsNothingAnyMore()
    {
        final VirtualQp offender = pair.connect(first);
        final VirtualQp idle = pair.connect(second);
        assertPosted(add(idle, 1));
        pair.runUntil(() -> second.cookies().size() == 1);
        trap.close();
        assertPosted(spring(offender, 1, false));
        pair.admission = Admission.accept(AccessFlags.ALL_REMOTE, new byte[0]);
        pair.runUntil(() -> offender.state() == VirtualQp.State.FAILED && idle.carriesWrites());
        assertThat(idle.peerRegions()).isEmpty();
        assertThat(add(idle, 2)).isEqualTo(PostStatus.INVALID_STATE);
        assertThat(idle.failure()).contains("does not grant its memory any more");
    }

    /** What a call has granted is reached instead of what the connection grants; not over another queue pair. */
    @Test
    void shouldReachWhatWasGrantedApartAndNothingElse()
    {
        final MemoryRegion apart =
            pair.server.protectionDomain().allocateRegistered(4_096, AccessFlags.ALL_REMOTE);
        final VirtualQp vqp = pair.connect(second);
        vqp.reach(new RemoteRegion(apart.address(), apart.lengthBytes(), apart.remoteKey()));
        assertThat(vqp.regionLengthBytes()).isEqualTo(4_096);
        vqp.begin();
        vqp.compareSwap(pair.local, 16, 64, 0, 7);
        assertPosted(vqp.complete(1));
        pair.runUntil(() -> second.cookies().size() == 1);
        assertThat(second.statuses()).containsExactly(WorkCompletionStatus.SUCCESS);
        assertThat(apart.segment().get(ValueLayout.JAVA_LONG, 64)).isEqualTo(7);
        vqp.begin();
        assertThatThrownBy(() -> vqp.read(pair.local, 0, Long.BYTES, pair.remote(), 8))
            .isInstanceOf(RaasMisuseException.class).hasMessageContaining("did not grant");
        final VirtualQp offender = pair.connect(first);
        trap.close();
        assertPosted(spring(offender, 1, false));
        pair.admission = Admission.accept(AccessFlags.ALL_REMOTE, new byte[0], pair.served);
        pair.runUntil(() -> offender.state() == VirtualQp.State.FAILED && vqp.carriesWrites());
        vqp.begin();
        vqp.read(pair.local, 0, Long.BYTES, 64);
        assertThat(vqp.complete(2)).isEqualTo(PostStatus.INVALID_STATE);
        assertThat(vqp.failure()).contains("does not grant");
        apart.close();
    }

    @Test
    void shouldSwallowWhatBelongsToAVirtualQueuePairThatWasClosed()
    {
        final VirtualQp offender = pair.connect(first);
        final VirtualQp bystander = pair.connect(second);
        trap.close();
        assertPosted(spring(offender, 1, false));
        assertPosted(add(bystander, 1));
        pair.admission = Admission.accept(AccessFlags.ALL_REMOTE, new byte[0], pair.served);
        pair.runUntil(() -> offender.state() == VirtualQp.State.FAILED);
        bystander.close();
        pair.poll(1_000);
        assertThat(second.cookies()).isEmpty();
        assertThat(bystander.outstandingBatches()).isZero();
        assertThat(pair.servedWord(8)).isEqualTo(42);
        assertThat(pair.client.swallowedCompletions()).isEqualTo(1);
    }

    @Test
    void shouldHoldBackAndSendCallsWhileAQueuePairIsReplaced()
    {
        final VirtualQp offender = pair.connect(first);
        final VirtualQp bystander = pair.connect(second);
        final int[] answered = new int[1];
        trap.close();
        assertPosted(spring(offender, 1, false));
        pair.admission = Admission.accept(AccessFlags.ALL_REMOTE, new byte[0], pair.served);
        pair.runUntil(() -> offender.state() == VirtualQp.State.FAILED);
        pair.client.rpcClient().call(bystander, 1, new UnsafeBuffer(new byte[8]), 0, 8,
            SoftPair.TIMEOUT_NS, (callId, status, payload, offset, length) ->
                answered[0] += status == RpcStatus.OK ? 1 : 0);
        pair.runUntil(() -> answered[0] == 1);
    }

    @Test
    void shouldPostNothingAgainToAPeerThatBreaksTheRulesOfMessages()
    {
        final VirtualQp vqp = pair.connect(second);
        assertPosted(read(vqp, 1));
        assertPosted(add(vqp, 2));
        vqp.channel().breakProtocol("planted");
        assertThat(vqp.failure()).contains("planted");
        assertThat(second.statuses()).containsExactly(
            WorkCompletionStatus.GENERAL_ERR, BatchListener.OUTCOME_UNKNOWN);
        pair.poll(100);
        assertThat(pair.client.transports().counts()).isEmpty();
        assertThat(pair.client.replays()).isEqualTo(new Replays(0, 0, 1));
    }

    /** One that connects in the callback of the failure waits for the queue pair that takes the place. */
    @Test
    void shouldReplaceAQueuePairOnceWhenOthersConnectMeanwhile()
    {
        final VirtualQp[] again = new VirtualQp[1];
        final VirtualQp offender = pair.connect((vqp, cookie, status) ->
            again[0] = pair.client.connect(pair.peer(), first, SoftPair.TIMEOUT_NS));
        final VirtualQp bystander = pair.connect(second);
        trap.close();
        assertPosted(spring(offender, 1, false));
        assertPosted(add(bystander, 1));
        pair.admission = Admission.accept(AccessFlags.ALL_REMOTE, new byte[0], pair.served);
        pair.runUntil(() -> second.cookies().size() == 1 && again[0].carriesWrites());
        assertThat(pair.client.transports().counts().values()).containsExactly(1);
        assertPosted(add(again[0], 2));
        assertPosted(add(bystander, 3));
        pair.runUntil(() -> first.cookies().size() == 1 && second.cookies().size() == 2);
        assertThat(pair.servedWord(8)).isEqualTo(45);
    }

    /** A queue pair is closed when its last user has gone, and not before: also when it took the place of another. */
    @Test
    void shouldCountTheUsersOfTheQueuePairThatTakesThePlace()
    {
        final VirtualQp offender = pair.connect(first);
        final VirtualQp bystander = pair.connect(second);
        final VirtualQp closed = pair.connect(second);
        trap.close();
        assertPosted(spring(offender, 1, false));
        assertPosted(add(bystander, 1));
        assertPosted(add(closed, 2));
        pair.admission = Admission.accept(AccessFlags.ALL_REMOTE, new byte[0], pair.served);
        pair.runUntil(() -> offender.state() == VirtualQp.State.FAILED);
        closed.close();
        offender.close();
        pair.runUntil(() -> second.cookies().size() == 1);
        pair.client.identity(new PeerIdentity(4, 1));
        pair.poll(100);
        assertPosted(add(bystander, 3));
        pair.runUntil(() -> second.cookies().size() == 2);
        assertThat(pair.servedWord(8)).isEqualTo(44);
        bystander.close();
        pair.poll(100);
        assertThat(pair.client.transports().counts()).isEmpty();
    }

    /** With room for one queue pair in the completion queue, the other one waits for the next poll. */
    @Test
    void shouldWaitForTheRoomOfTheQueuePairThatBroke()
    {
        tearDown();
        open(new RaasConfiguration().replayTimeoutNs(REPLAY_NS).dcInitiators(0)
            .sendQueueDepth(4).maxBatchRequests(4).completionQueueCapacity(20));
        final VirtualQp offender = pair.connect(first);
        final VirtualQp bystander = pair.connect(second);
        trap.close();
        assertPosted(spring(offender, 1, false));
        assertPosted(add(bystander, 1));
        assertPosted(add(bystander, 2));
        pair.admission = Admission.accept(AccessFlags.ALL_REMOTE, new byte[0], pair.served);
        pair.runUntil(() -> second.cookies().size() == 2);
        assertThat(pair.servedWord(8)).isEqualTo(44);
        assertPosted(add(bystander, 3));
        pair.runUntil(() -> second.cookies().size() == 3);
    }

    /** A batch that was begun before the break is staged again: its keys are those of before. */
    @Test
    void shouldPostNothingThatWasStagedBeforeTheBreak()
    {
        final VirtualQp offender = pair.connect(first);
        final VirtualQp bystander = pair.connect(second);
        trap.close();
        bystander.begin();
        bystander.read(pair.local, 0, Long.BYTES, pair.remote(), 8);
        assertPosted(spring(offender, 1, false));
        pair.admission = Admission.accept(AccessFlags.ALL_REMOTE, new byte[0], pair.served);
        pair.runUntil(() -> offender.state() == VirtualQp.State.FAILED);
        pair.runUntil(bystander::carriesWrites);
        assertThat(bystander.complete(1)).isEqualTo(PostStatus.QUEUE_FULL);
        assertPosted(read(bystander, 2));
        pair.runUntil(() -> second.cookies().size() == 1);
    }

    @Test
    void shouldRefuseATimeoutBelowZero()
    {
        assertThatThrownBy(() -> RaasContext.open(pair.clientDevice, new RaasConfiguration().replayTimeoutNs(-1)))
            .isInstanceOf(RaasMisuseException.class).hasMessageContaining("replayTimeoutNs is -1");
        assertThatThrownBy(() -> pair.client.replayTimeoutNs(0)).hasMessageContaining("replayTimeoutNs(0)");
        assertThatThrownBy(() -> pair.server.replayTimeoutNs(1)).hasMessageContaining("was opened with 0");
    }

    /** The peer listens and does not answer. */
    @Test
    void shouldGiveUpAtTheDeadline()
    {
        final VirtualQp offender = pair.connect(first);
        final VirtualQp bystander = pair.connect(second);
        pair.client.replayTimeoutNs(20_000_000);
        trap.close();
        assertPosted(spring(offender, 1, false));
        assertPosted(add(bystander, 1));
        final long deadlineNs = System.nanoTime() + SoftPair.TIMEOUT_NS;
        while (second.cookies().isEmpty() && System.nanoTime() - deadlineNs < 0)
        {
            pair.client.poll();
        }
        assertThat(second.statuses()).containsExactly(WorkCompletionStatus.WR_FLUSH_ERR);
        assertThat(bystander.state()).isEqualTo(VirtualQp.State.FAILED);
        assertThat(bystander.failure()).contains("in time");
        assertThat(pair.servedWord(8)).isEqualTo(42);
        pair.admission = Admission.accept(AccessFlags.ALL_REMOTE, new byte[0], pair.served);
        assertThat(pair.connect(second).carriesWrites()).isTrue();
    }

    @Test
    void shouldPostNothingAgainUnderAnotherIdentity()
    {
        final VirtualQp offender = pair.connect(first);
        final VirtualQp bystander = pair.connect(second);
        pair.client.identity(new PeerIdentity(4, 1));
        trap.close();
        assertPosted(spring(offender, 1, false));
        assertPosted(add(bystander, 1));
        pair.runUntil(() -> offender.state() == VirtualQp.State.FAILED);
        assertThat(bystander.state()).isEqualTo(VirtualQp.State.FAILED);
        assertThat(second.statuses()).containsExactly(WorkCompletionStatus.WR_FLUSH_ERR);
    }

    @Test
    void shouldReadOverTheQueuePairWhatAnInitiatorThatBrokeDidNot()
    {
        final ReadTarget target = pair.server.openReadTarget(7);
        final ReadTargetAddress gone = target.address();
        target.close();
        final MemoryRegion own = pair.server.protectionDomain().register(pair.served.segment(), AccessFlags.ALL_REMOTE);
        pair.admission = Admission.accept(AccessFlags.ALL_REMOTE, new byte[0], own);
        final VirtualQp vqp = pair.client.connect(pair.peer(), gone, pair.remote(), first, SoftPair.TIMEOUT_NS);
        assertPosted(read(vqp, 1));
        assertPosted(read(vqp, 2));
        pair.runUntil(() -> first.cookies().size() == 2);
        assertThat(first.cookies()).containsExactly(1, 2);
        assertThat(first.statuses()).containsOnly(WorkCompletionStatus.SUCCESS);
        assertThat(pair.localWord(0)).isEqualTo(42);
        assertThat(vqp.carriesWrites()).isTrue();
        assertThat(pair.client.replays()).isEqualTo(new Replays(0, 2, 0));
        assertThat(pair.client.openBatches()).isZero();
        own.close();
    }
}
