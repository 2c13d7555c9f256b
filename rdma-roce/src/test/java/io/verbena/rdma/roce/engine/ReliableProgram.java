package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.engine.EngineNode.Completion;
import io.verbena.rdma.roce.engine.EngineNode.ConnectOptions;
import io.verbena.rdma.roce.wire.AethDescriptor;
import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.spi.RetryTimers;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.SharedReceiveQueue;
import io.verbena.rdma.verbs.WorkCompletionOpcode;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two or three nodes, each pair joined by an RC connection; both sides post random requests. Each direction has slots
 * of its own at the peer, so that what a READ finds and what is there in the end follow from the program alone.
 * A WRITE to a slot that READs look at is fenced, because an unfenced one may come before an earlier READ. All atomics
 * of a node's peers go to the same few words of it.
 */
final class ReliableProgram
{
    private static final int OPERATIONS = 60;
    private static final int SLOT_BYTES = 1200;
    private static final int SLOTS = 4;
    private static final int WORDS = 3;
    private static final int RECEIVE_BYTES = 1200;
    private static final long LIMIT_NS = 60_000_000_000L;

    /** A posted request. */
    private static final class Posted
    {
        int operation;
        boolean isSignaled;
        byte[] expected;
        int localOffset;
        int word;
        long compared;
        long desired;
        long found;
        long postedNs;
        long completedNs;
    }

    /** What a SEND or WRITE with an immediate has to look like where it arrives. */
    private record Message(byte[] payload, boolean hasImmediate, int immediate, boolean isWrite, int bytes)
    {
    }

    /** One direction of a connection. */
    private final class Direction
    {
        final EngineNode node;
        final EngineNode peer;
        final RoceQueuePair queuePair;
        final RoceQueuePair peerQueuePair;
        final int base;
        final List<Posted> posted = new ArrayList<>();
        final ArrayDeque<Message> sent = new ArrayDeque<>();
        final byte[][] slots = new byte[SLOTS][SLOT_BYTES];
        int nextSignaled;
        int left = OPERATIONS;

        Direction(
            final EngineNode node,
            final EngineNode peer,
            final RoceQueuePair queuePair,
            final RoceQueuePair peerQueuePair,
            final int base)
        {
            this.node = node;
            this.peer = peer;
            this.queuePair = queuePair;
            this.peerQueuePair = peerQueuePair;
            this.base = base;
        }

        int slotOffset(final int slot)
        {
            return base + slot * SLOT_BYTES;
        }

        int localOffset(final long id)
        {
            return base + SLOTS * SLOT_BYTES + (int)(id % 32) * SLOT_BYTES;
        }

        void postSome()
        {
            if (left == 0 || queuePair.sendQueueSpace() < 8 || outstanding() > 24)
            {
                return;
            }
            queuePair.begin();
            final int batch = Math.min(left, 1 + random.nextInt(6));
            for (int i = 0; i < batch; i++)
            {
                post(i == batch - 1);
                left--;
            }
            assertThat(queuePair.complete()).isZero();
        }

        int outstanding()
        {
            return posted.size() - nextSignaled;
        }

        private void post(final boolean isLast)
        {
            final Posted request = new Posted();
            final long id = posted.size();
            request.operation = random.nextInt(5);
            request.isSignaled = isLast || random.nextBoolean();
            request.postedNs = network.nowNs();
            request.localOffset = localOffset(id);
            final int flags = request.isSignaled ? SendFlags.SIGNALED : 0;
            final int slot = random.nextInt(SLOTS);
            final int lengthBytes = random.nextInt(4) == 0 ? random.nextInt(3) : random.nextInt(SLOT_BYTES);
            switch (request.operation)
            {
                case WorkRequest.SEND -> send(request, id, flags, lengthBytes);
                case WorkRequest.WRITE -> write(request, id, flags, slot, lengthBytes);
                case WorkRequest.READ ->
                {
                    final int readSlot = slot % (SLOTS / 2);
                    request.expected = Arrays.copyOf(slots[readSlot], lengthBytes);
                    queuePair.read(id, flags, node.at(request.localOffset), lengthBytes, node.key(),
                        peer.at(slotOffset(readSlot)), peer.key());
                }
                case WorkRequest.COMPARE_SWAP ->
                {
                    request.word = random.nextInt(WORDS);
                    request.compared = peer.word(Long.BYTES * (WORDS + request.word));
                    request.desired = ++lastDesired;
                    queuePair.compareSwap(id, flags, node.at(request.localOffset), node.key(),
                        peer.at(Long.BYTES * (WORDS + request.word)), peer.key(), request.compared, request.desired);
                }
                default ->
                {
                    request.word = random.nextInt(WORDS);
                    queuePair.fetchAdd(id, flags, node.at(request.localOffset), node.key(),
                        peer.at(Long.BYTES * request.word), peer.key(), 1);
                }
            }
            posted.add(request);
        }

        private byte[] fill(final Posted request, final int lengthBytes)
        {
            final byte[] bytes = new byte[lengthBytes];
            random.nextBytes(bytes);
            node.memory().asSlice(request.localOffset, lengthBytes)
                .copyFrom(MemorySegment.ofArray(bytes));
            return bytes;
        }

        private void send(final Posted request, final long id, final int flags, final int lengthBytes)
        {
            final byte[] bytes = fill(request, lengthBytes);
            final boolean hasImmediate = random.nextBoolean();
            sent.add(new Message(bytes, hasImmediate, (int)id, false, lengthBytes));
            if (hasImmediate)
            {
                queuePair.sendWithImmediate(
                    id, flags, node.at(request.localOffset), lengthBytes, node.key(), (int)id);
            }
            else if (lengthBytes <= 64 && random.nextBoolean())
            {
                queuePair.send(id, flags | SendFlags.INLINE, node.at(request.localOffset), lengthBytes, 0);
            }
            else
            {
                queuePair.send(id, flags, node.at(request.localOffset), lengthBytes, node.key());
            }
        }

        private void write(
            final Posted request, final long id, final int givenFlags, final int slot, final int lengthBytes)
        {
            final byte[] bytes = fill(request, lengthBytes);
            final int flags = givenFlags | (slot < SLOTS / 2 ? SendFlags.FENCE : 0);
            System.arraycopy(bytes, 0, slots[slot], 0, lengthBytes);
            if (random.nextInt(3) == 0)
            {
                sent.add(new Message(null, true, (int)id, true, lengthBytes));
                queuePair.writeWithImmediate(id, flags, node.at(request.localOffset), lengthBytes, node.key(),
                    peer.at(slotOffset(slot)), peer.key(), (int)id);
            }
            else
            {
                queuePair.write(id, flags, node.at(request.localOffset), lengthBytes, node.key(),
                    peer.at(slotOffset(slot)), peer.key());
            }
        }

        /** Completions come in posting order, one for each signaled request. */
        void onSendCompletion(final Completion completion)
        {
            while (!posted.get(nextSignaled).isSignaled)
            {
                onDone(posted.get(nextSignaled++));
            }
            assertThat(completion.status()).as("%s of %s", completion, queuePair)
                .isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(completion.wrId()).isEqualTo(nextSignaled);
            assertThat(completion.opcode()).isEqualTo(posted.get(nextSignaled).operation);
            onDone(posted.get(nextSignaled++));
        }

        private void onDone(final Posted request)
        {
            request.completedNs = network.nowNs();
            if (request.operation == WorkRequest.READ)
            {
                assertThat(node.memory().asSlice(request.localOffset, request.expected.length)
                    .toArray(ValueLayout.JAVA_BYTE)).isEqualTo(request.expected);
            }
            else if (request.operation >= WorkRequest.COMPARE_SWAP)
            {
                request.found = node.memory().get(
                    ValueLayout.JAVA_LONG_UNALIGNED, request.localOffset);
            }
        }

        /** A message of this direction has arrived. */
        void onMessage(final Completion completion)
        {
            final Message message = sent.remove();
            assertThat(completion.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(completion.opcode()).isEqualTo(
                message.isWrite ? WorkCompletionOpcode.RECV_RDMA_WITH_IMM : WorkCompletionOpcode.RECV);
            assertThat(completion.bytes()).isEqualTo(message.bytes);
            assertThat(completion.flags()).isEqualTo(message.hasImmediate ? WorkCompletions.WITH_IMMEDIATE : 0);
            if (message.hasImmediate)
            {
                assertThat(completion.immediate()).isEqualTo(message.immediate);
            }
            if (!message.isWrite)
            {
                assertThat(peer.memory().asSlice(completion.wrId(), message.bytes)
                    .toArray(ValueLayout.JAVA_BYTE)).isEqualTo(message.payload);
            }
        }

        boolean isDone()
        {
            return left == 0 && nextSignaled == posted.size() && sent.isEmpty();
        }
    }

    private final SplittableRandom random;
    private final LossyNetwork network;
    private final StretchedReads stretched;
    private final List<EngineNode> nodes = new ArrayList<>();
    private final List<Direction> directions = new ArrayList<>();
    /** By queue pair, or by node where its receives are shared. */
    private final Map<Object, ArrayDeque<Integer>> freeReceives = new HashMap<>();
    private final Map<EngineNode, SharedReceiveQueue> shared = new HashMap<>();
    private final Map<Integer, Integer> messageSequences = new HashMap<>();
    private long lastDesired;

    ReliableProgram(final long seed)
    {
        this(seed, null);
    }

    /** @param attacker on the path of sealed packets; null: packets are in clear, and nobody changes them. */
    ReliableProgram(final long seed, final SealedPathAttacker attacker)
    {
        random = new SplittableRandom(seed);
        final boolean isCalm = seed % 5 == 0;
        network = new LossyNetwork(seed * 31, isCalm ? LossyNetwork.Faults.NONE : new LossyNetwork.Faults(
            random.nextInt(50), random.nextInt(50), random.nextInt(20), random.nextInt(100),
            1 + random.nextInt(20_000)));
        // Never, sometimes or always, by random numbers of its own: those of the program stay what they were.
        stretched = new StretchedReads(seed * 17, (int)(seed % 3) * 500);
        if (attacker == null)
        {
            network.observe(this::checkMessageSequence);
            network.rewrite(stretched);
        }
        else
        {
            network.sealed();
            network.observe(attacker::onSent);
            network.rewrite(attacker);
        }
        final int count = 2 + random.nextInt(2);
        final boolean isShared = random.nextBoolean();
        for (int i = 0; i < count; i++)
        {
            final EngineNode node = network.addNode(1 + random.nextInt(48), 1 + random.nextInt(16));
            nodes.add(node);
            node.onCompletion = (completion) -> onCompletion(node, completion);
            shared.put(node, isShared ? node.domain.createSharedReceiveQueue(16) : null);
        }
        int base = 1024;
        for (int i = 0; i < count; i++)
        {
            for (int j = i + 1; j < count; j++)
            {
                connect(nodes.get(i), nodes.get(j), base);
                base += (SLOTS + 32) * SLOT_BYTES;
            }
        }
    }

    private void connect(final EngineNode a, final EngineNode b, final int base)
    {
        final RoceQueuePair qa = a.createQueuePair(QueuePairType.RC, shared.get(a));
        final RoceQueuePair qb = b.createQueuePair(QueuePairType.RC, shared.get(b));
        final ConnectOptions options = new ConnectOptions(
            256 << random.nextInt(3), random.nextBoolean() ? 0xFF_FFF0 : random.nextInt(1 << 24),
            1 + random.nextInt(4), 5 + random.nextInt(3), 7, 7, 1 + random.nextInt(3), AccessFlags.ALL_REMOTE);
        EngineNode.connect(qa, b, qb, options);
        EngineNode.connect(qb, a, qa, options);
        directions.add(new Direction(a, b, qa, qb, base));
        directions.add(new Direction(b, a, qb, qa, base));
        for (int i = 0; i < 4; i++)
        {
            postReceive(a, qa, 140_000 + (directions.size() * 4 + i) * RECEIVE_BYTES);
            postReceive(b, qb, 140_000 + (directions.size() * 4 + i) * RECEIVE_BYTES);
        }
    }

    private void postReceive(final EngineNode node, final RoceQueuePair queuePair, final int offset)
    {
        final int status = shared.get(node) == null ?
            queuePair.postReceive(offset, node.at(offset), RECEIVE_BYTES, node.key()) :
            shared.get(node).postReceive(offset, node.at(offset), RECEIVE_BYTES, node.key());
        assertThat(status).isZero();
    }

    private void onCompletion(final EngineNode node, final Completion completion)
    {
        for (final Direction direction : directions)
        {
            if (direction.node == node && direction.queuePair.number() == completion.number() &&
                completion.opcode() < WorkCompletionOpcode.RECV)
            {
                direction.onSendCompletion(completion);
            }
            else if (direction.peer == node && direction.peerQueuePair.number() == completion.number() &&
                completion.opcode() >= WorkCompletionOpcode.RECV)
            {
                direction.onMessage(completion);
                free(node, direction.peerQueuePair).add((int)completion.wrId());
                // Not always at once, so that senders meet no receive.
                if (random.nextInt(4) > 0)
                {
                    repost(node, direction.peerQueuePair);
                }
            }
        }
    }

    private ArrayDeque<Integer> free(final EngineNode node, final RoceQueuePair queuePair)
    {
        return freeReceives.computeIfAbsent(
            shared.get(node) == null ? queuePair : node, (key) -> new ArrayDeque<>());
    }

    private void repost(final EngineNode node, final RoceQueuePair queuePair)
    {
        final ArrayDeque<Integer> free = free(node, queuePair);
        while (!free.isEmpty())
        {
            postReceive(node, queuePair, free.remove());
        }
    }

    /** An acknowledgement counts the messages that its sender has completed: never fewer than the one before did. */
    private void checkMessageSequence(final RocePacket packet)
    {
        final int opcode = BthDescriptor.opcode(packet.buffer(), 0);
        if (opcode == RoceOpcode.ACKNOWLEDGE)
        {
            final int count = AethDescriptor.messageSequence(packet.buffer(), BthDescriptor.LENGTH_BYTES);
            final Integer before =
                messageSequences.put(BthDescriptor.destination(packet.buffer(), 0), count);
            assertThat(count).isGreaterThanOrEqualTo(before == null ? 0 : before);
        }
    }

    /** How many requests for READs were stretched over PSNs of the part before. */
    long stretchedReads()
    {
        return stretched.count();
    }

    void run()
    {
        final boolean isDone = network.run(() ->
        {
            directions.forEach(Direction::postSome);
            if (random.nextInt(8) == 0)
            {
                directions.forEach((direction) -> repost(direction.peer, direction.peerQueuePair));
            }
            return directions.stream().allMatch(Direction::isDone);
        }, LIMIT_NS);
        assertThat(isDone).as("stuck at %d ns", network.nowNs()).isTrue();
        network.settle();
        checkEnd();
    }

    private void checkEnd()
    {
        for (final Direction direction : directions)
        {
            for (int slot = 0; slot < SLOTS; slot++)
            {
                assertThat(direction.peer.memory().asSlice(direction.slotOffset(slot), SLOT_BYTES)
                    .toArray(ValueLayout.JAVA_BYTE)).as("slot %d", slot)
                    .isEqualTo(direction.slots[slot]);
            }
            assertThat(direction.queuePair.deadlineNs()).isEqualTo(RetryTimers.NEVER_NS);
            assertThat(direction.queuePair.transmit(1)).isFalse();
        }
        for (final EngineNode node : nodes)
        {
            assertThat(node.engine.events().poll()).isNull();
            assertThat(node.engine.counters().refused).isZero();
            for (int word = 0; word < WORDS; word++)
            {
                checkAdditions(node, word);
                checkSwaps(node, word);
            }
        }
    }

    private List<Posted> atomics(final EngineNode node, final int operation, final int word)
    {
        return directions.stream().filter((direction) -> direction.peer == node)
            .flatMap((direction) -> direction.posted.stream())
            .filter((request) -> request.operation == operation && request.word == word).toList();
    }

    /** Each addition found another value, and one that ended before another began found the smaller one. */
    private void checkAdditions(final EngineNode node, final int word)
    {
        final List<Posted> additions = new ArrayList<>(atomics(node, WorkRequest.FETCH_ADD, word));
        additions.sort(Comparator.comparingLong((request) -> request.found));
        assertThat(node.word(Long.BYTES * word)).isEqualTo(additions.size());
        long latestPostNs = 0;
        for (int i = 0; i < additions.size(); i++)
        {
            assertThat(additions.get(i).found).isEqualTo(i);
            assertThat(additions.get(i).completedNs).isGreaterThanOrEqualTo(latestPostNs);
            latestPostNs = Math.max(latestPostNs, additions.get(i).postedNs);
        }
    }

    /** The swaps that succeeded form one chain from 0 to what is there; the others found a value of it. */
    private void checkSwaps(final EngineNode node, final int word)
    {
        final Map<Long, Long> next = new HashMap<>();
        final List<Posted> swaps = atomics(node, WorkRequest.COMPARE_SWAP, word);
        for (final Posted swap : swaps)
        {
            if (swap.found == swap.compared)
            {
                assertThat(next.put(swap.compared, swap.desired)).isNull();
            }
        }
        long value = 0;
        int length = 0;
        final List<Long> values = new ArrayList<>(List.of(0L));
        while (next.containsKey(value))
        {
            value = next.get(value);
            values.add(value);
            length++;
        }
        assertThat(length).isEqualTo(next.size());
        assertThat(node.word(Long.BYTES * (WORDS + word))).isEqualTo(value);
        assertThat(swaps).allSatisfy((swap) -> assertThat(values).contains(swap.found));
    }
}
