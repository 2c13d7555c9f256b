package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.engine.EngineNode.ConnectOptions;
import io.verbena.rdma.roce.wire.AethDescriptor;
import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.InvariantCrc;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AsyncEvent;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/** Which packets ask for an answer, and what an answer says of the requests before it. */
class AskedAnswersTest
{
    private static final int WRITE = RoceOpcode.RC | RoceOpcode.WRITE_ONLY;
    private static final int ACK = RoceOpcode.RC | RoceOpcode.ACKNOWLEDGE;
    private static final int ATOMIC = RoceOpcode.RC | RoceOpcode.ATOMIC_ACKNOWLEDGE;
    private static final int FIRST = ConnectOptions.DEFAULT.firstSequence();
    /** As a code: 10 ms. */
    private static final int LONG_RNR = 20;
    /** As a code: 67 ms. */
    private static final int PATIENT = 14;
    private static final long SOON_NS = 20_000;

    private final LossyNetwork network = new LossyNetwork(5, LossyNetwork.Faults.NONE);
    private final EngineNode a = network.addNode(32, 16);
    private final EngineNode b = network.addNode(32, 16);
    private final RoceQueuePair qa = a.createQueuePair(QueuePairType.RC, null);
    private final RoceQueuePair qb = b.createQueuePair(QueuePairType.RC, null);
    private final List<RocePacket> sent = new ArrayList<>();

    @BeforeEach
    void connect()
    {
        final ConnectOptions options =
            new ConnectOptions(256, FIRST, 4, PATIENT, 7, 7, LONG_RNR, AccessFlags.ALL_REMOTE);
        EngineNode.connect(qa, b, qb, options);
        EngineNode.connect(qb, a, qa, options);
        network.observe((packet) -> sent.add(copyOf(packet)));
    }

    private static RocePacket copyOf(final RocePacket packet)
    {
        final RocePacket copy = new RocePacket();
        copy.copyOf(packet);
        return copy;
    }

    private static Predicate<RocePacket> is(final int opcode)
    {
        return (packet) -> BthDescriptor.opcode(packet.buffer(), 0) == opcode;
    }

    private List<RocePacket> all(final int opcode)
    {
        return sent.stream().filter(is(opcode)).toList();
    }

    private void write(final int flags)
    {
        qa.write(1, flags, a.at(0), 8, a.key(), b.at(0), b.key());
    }

    @Test
    void shouldAskBehindTheLastOfSeveralThoughNoneIsSignalled()
    {
        qa.begin();
        write(0);
        write(0);
        assertThat(qa.complete()).isZero();
        network.elapse(SOON_NS);
        assertThat(all(WRITE)).extracting((packet) -> BthDescriptor.isAckRequested(packet.buffer(), 0))
            .containsExactly(false, true);
        assertThat(all(ACK)).hasSize(1);
    }

    @Test
    void shouldAskBehindASignalledRequestThoughOthersFollow()
    {
        qa.begin();
        write(SIGNALED);
        write(0);
        write(0);
        assertThat(qa.complete()).isZero();
        network.elapse(SOON_NS);
        assertThat(all(WRITE)).extracting((packet) -> BthDescriptor.isAckRequested(packet.buffer(), 0))
            .containsExactly(true, false, true);
        assertThat(a.polled).hasSize(1);
    }

    @Test
    void shouldCompleteWhatIsBeforeTheRequestThatMetNoReceive()
    {
        network.lose((packet) -> is(ACK).test(packet) &&
            AethDescriptor.ACK == (AethDescriptor.syndrome(packet.buffer(), BthDescriptor.LENGTH_BYTES) &
                AethDescriptor.KIND_MASK));
        qa.begin();
        write(SIGNALED);
        qa.send(2, SIGNALED, a.at(0), 8, a.key());
        assertThat(qa.complete()).isZero();
        network.elapse(SOON_NS);
        assertThat(a.polled).extracting(EngineNode.Completion::wrId).containsExactly(1L);
        assertThat(a.polled.getFirst().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        final int before = sent.size();
        network.elapse(5_000_000);
        assertThat(sent).as("while it waits as it was asked to").hasSize(before);
    }

    @Test
    void shouldTakeNoReadResponseForTheAnswerOfAnAtomic()
    {
        b.word(8, 41);
        network.lose(is(ATOMIC));
        qa.begin();
        qa.read(1, SIGNALED, a.at(64), 8, a.key(), b.at(0), b.key());
        qa.fetchAdd(2, SIGNALED, a.at(72), a.key(), b.at(8), b.key(), 1);
        assertThat(qa.complete()).isZero();
        network.elapse(SOON_NS);
        assertThat(a.polled).extracting(EngineNode.Completion::wrId).containsExactly(1L);
        final long before = a.engine.counters().stale;
        final RocePacket response = copyOf(all(RoceOpcode.RC | RoceOpcode.READ_RESPONSE_ONLY).getFirst());
        BthDescriptor.encode(response.buffer(), 0, RoceOpcode.RC | RoceOpcode.READ_RESPONSE_ONLY, false, 0,
            qa.number(), false, FIRST + 1 & 0xFF_FFFF);
        new InvariantCrc().seal(response);
        network.inject(response, 0);
        network.elapse(SOON_NS);
        assertThat(a.polled).hasSize(1);
        assertThat(a.engine.counters().stale).isGreaterThan(before);
    }

    /** The refusal says that all before it was executed. */
    @Test
    void shouldCompleteWhatIsBeforeARefusedRequest()
    {
        network.lose((packet) -> is(ACK).test(packet) &&
            AethDescriptor.ACK_WITHOUT_CREDITS == AethDescriptor.syndrome(packet.buffer(), BthDescriptor.LENGTH_BYTES));
        qa.begin();
        write(SIGNALED);
        qa.write(2, SIGNALED, a.at(0), 8, a.key(), b.at(0), b.key() + 1);
        assertThat(qa.complete()).isZero();
        network.elapse(SOON_NS);
        assertThat(a.polled).extracting(EngineNode.Completion::wrId, EngineNode.Completion::status).containsExactly(
            tuple(1L, WorkCompletionStatus.SUCCESS), tuple(2L, WorkCompletionStatus.REM_ACCESS_ERR));
    }

    /** One retry: what says once more that there is no receive, while it waits, takes none of them. */
    @Test
    void shouldCountOneRefusalForNowOnce()
    {
        qa.modify(new QueuePairAttributes().state(QueuePairState.SQD));
        qa.modify(new QueuePairAttributes().state(QueuePairState.SQD).rnrRetry(1));
        qa.modify(new QueuePairAttributes().state(QueuePairState.RTS));
        qa.begin();
        qa.send(1, SIGNALED, a.at(0), 8, a.key());
        assertThat(qa.complete()).isZero();
        network.elapse(SOON_NS);
        network.inject(copyOf(all(ACK).getFirst()), 0);
        network.inject(copyOf(all(ACK).getFirst()), 1);
        network.elapse(SOON_NS);
        assertThat(a.polled).isEmpty();
        qb.postReceive(2, b.at(64), 8, b.key());
        network.settle();
        assertThat(a.polled).extracting(EngineNode.Completion::status).containsExactly(WorkCompletionStatus.SUCCESS);
        assertThat(all(RoceOpcode.RC | RoceOpcode.SEND_ONLY)).hasSize(2);
    }

    /** A later response says that the WRITE before the READ has been executed, though no answer to it has come. */
    @Test
    void shouldSendNothingAgainThatIsBeforeALostResponse()
    {
        final int first = RoceOpcode.RC | RoceOpcode.READ_RESPONSE_FIRST;
        network.lose((packet) -> is(ACK).test(packet) || is(first).test(packet) && all(first).size() == 1);
        qa.begin();
        write(SIGNALED);
        qa.read(2, SIGNALED, a.at(64), 600, a.key(), b.at(0), b.key());
        assertThat(qa.complete()).isZero();
        network.elapse(SOON_NS);
        assertThat(a.polled).hasSize(2);
        assertThat(all(WRITE)).hasSize(1);
        assertThat(all(RoceOpcode.RC | RoceOpcode.READ_REQUEST)).hasSize(2);
    }

    /** At their port others are expected, who may not answer what comes once more alone: all of it is sent. */
    @Test
    void shouldSendAllAgainToOthersWhenAnAnswerIsLate()
    {
        network.lose((packet) -> is(ACK).test(packet) && sent.size() < 6);
        qa.begin();
        qa.write(1, SIGNALED, a.at(0), 4 * 256, a.key(), b.at(0), b.key());
        assertThat(qa.complete()).isZero();
        network.settle();
        assertThat(a.polled).hasSize(1);
        assertThat(sent).filteredOn((packet) -> !is(ACK).test(packet))
            .extracting((packet) -> BthDescriptor.sequence(packet.buffer(), 0) - FIRST)
            .containsExactly(0, 1, 2, 3, 0, 1, 2, 3);
    }

    /** Nothing of it is signalled, and more is posted behind it: its last packet asks all the same. */
    @Test
    void shouldAskBehindTheRequestThatIsTheLastBeforeItIsDrained()
    {
        qa.begin();
        qa.write(1, 0, a.at(0), 4 * 256, a.key(), b.at(0), b.key());
        write(0);
        network.lose((packet) ->
        {
            a.isFull = sent.size() == 2;
            return false;
        });
        assertThat(qa.complete()).isZero();
        a.engine.doWork();
        qa.modify(new QueuePairAttributes().state(QueuePairState.SQD));
        a.isFull = false;
        network.elapse(SOON_NS);
        final AsyncEvent event = a.engine.events().poll();
        assertThat(event).isNotNull();
        assertThat(event.type()).isEqualTo(AsyncEventType.SQ_DRAINED);
    }
}
