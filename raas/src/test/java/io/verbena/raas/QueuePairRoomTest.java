package io.verbena.raas;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;

/** More peers than a context has room for: those that nobody uses make room, the others' turn comes later. */
class QueuePairRoomTest
{
    private static final int ROOM = 2;

    @TempDir
    private Path directory;

    private final RecordingListener listener = new RecordingListener();
    private SoftPair pair;

    @BeforeEach
    void setUp()
    {
        pair = new SoftPair(directory, new RaasConfiguration(), new RaasConfiguration().maxChannels(ROOM));
    }

    @AfterEach
    void tearDown()
    {
        pair.close();
    }

    private VirtualQp begin(final int peer, final long timeoutNs)
    {
        return pair.client.connect(
            new PeerAddress(pair.serverDevice.address(), SoftPair.PORT, 1, peer), listener, timeoutNs);
    }

    private VirtualQp connect(final int peer)
    {
        final VirtualQp vqp = begin(peer, SoftPair.TIMEOUT_NS);
        pair.runUntil(() -> vqp.state() != VirtualQp.State.CONNECTING);
        assertThat(vqp.failure()).isEmpty();
        return vqp;
    }

    private boolean isPooled(final int peer)
    {
        try (VirtualQp vqp = begin(peer, SoftPair.TIMEOUT_NS))
        {
            return vqp.state() == VirtualQp.State.READY;
        }
    }

    @Test
    void shouldCloseTheOneThatWasUsedLongestAgo()
    {
        for (int round = 0; round < 4; round++)
        {
            final int first = 3 * round + 1;
            final VirtualQp older = connect(first + round % 2);
            final VirtualQp newer = connect(first + (round + 1) % 2);
            older.close();
            newer.close();
            connect(first + 2).close();
            assertThat(isPooled(newer.peer().incarnation())).as("round %d", round).isTrue();
        }
    }

    @Test
    void shouldLetAPeerWaitUntilThereIsRoom()
    {
        final VirtualQp first = connect(1);
        final VirtualQp second = connect(2);
        final VirtualQp third = begin(3, SoftPair.TIMEOUT_NS);
        final VirtualQp fourth = begin(4, SoftPair.TIMEOUT_NS);
        pair.poll(100);
        assertThat(third.state()).isEqualTo(VirtualQp.State.CONNECTING);
        assertThat(pair.client.poll()).as("nothing to do meanwhile").isZero();
        second.close();
        pair.runUntil(() -> third.state() == VirtualQp.State.READY);
        pair.poll(100);
        assertThat(fourth.state()).as("it came later").isEqualTo(VirtualQp.State.CONNECTING);
        first.close();
        pair.runUntil(() -> fourth.state() == VirtualQp.State.READY);
        assertThat(third.state()).isEqualTo(VirtualQp.State.READY);
    }

    @Test
    void shouldNotCloseWhatIsUsedForWhoWaits()
    {
        final VirtualQp first = connect(1);
        final VirtualQp second = connect(2);
        final VirtualQp third = begin(3, 50_000_000);
        pair.runUntil(() -> third.state() == VirtualQp.State.FAILED);
        assertThat(third.failure()).contains("not connected: no room for another connection: 2 are open; raise");
        assertThat(first.state()).isEqualTo(VirtualQp.State.READY);
        assertThat(second.state()).isEqualTo(VirtualQp.State.READY);
        third.close();
        assertThat(isPooled(1)).isTrue();
    }

    @Test
    void shouldForgetWhoWaitsAndGoes()
    {
        connect(1);
        final VirtualQp second = connect(2);
        final VirtualQp third = begin(3, SoftPair.TIMEOUT_NS);
        final VirtualQp fourth = begin(4, SoftPair.TIMEOUT_NS);
        third.close();
        second.close();
        pair.runUntil(() -> fourth.state() == VirtualQp.State.READY);
        assertThat(third.state()).isEqualTo(VirtualQp.State.CLOSED);
    }
}
