package io.verbena.raas.message;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class MessageTableTest
{
    private static final int MOST = 3;

    private final MessageTable table = new MessageTable(MOST, 100, 0);
    private final List<String> events = new ArrayList<>();

    /** Records what reaches it. */
    private final class Recorder implements MessageReceiver
    {
        private final String name;
        private final Object queuePair;
        private int pollsLeft;

        private Recorder(final String name, final Object queuePair)
        {
            this.name = name;
            this.queuePair = queuePair;
        }

        @Override
        public boolean isOver(final Object overQueuePair)
        {
            return queuePair == overQueuePair;
        }

        @Override
        public boolean onArrived(final int kind, final int slot, final int lengthBytes)
        {
            events.add(name + " " + kind + " " + slot + " " + lengthBytes);
            return true;
        }

        @Override
        public void onSendComplete()
        {
            events.add(name + " sent");
        }

        @Override
        public void onQueuePairClosed()
        {
            events.add(name + " closed");
        }

        @Override
        public void probe()
        {
            events.add(name + " probe");
        }

        @Override
        public void onRefused()
        {
            events.add(name + " refused");
        }

        @Override
        public boolean poll(final long nowNs)
        {
            return pollsLeft-- > 0;
        }
    }

    private static int immediate(final int kind, final int generation, final int index)
    {
        return MessageImmediateDescriptor.encode(kind, generation, index);
    }

    @Test
    void shouldDeliverOnlyUnderTheNumberOverTheQueuePairAndOfAKindOfEndpoints()
    {
        assertThat(table.add(new Recorder("first", "qp"))).isEqualTo(0x1_0001);
        for (int kind = 0; kind < 16; kind++)
        {
            final boolean isKnown = kind >= 4 && kind != 7;
            assertThat(table.dispatch("qp", kind, 9, immediate(kind, 1, 1))).as("kind %s", kind).isEqualTo(isKnown);
        }
        assertThat(events).hasSize(11).contains("first 4 4 9", "first 15 15 9");
        events.clear();
        assertThat(table.dispatch("other", 1, 9, immediate(4, 1, 1))).as("foreign").isFalse();
        assertThat(table.dispatch("qp", 1, 9, immediate(4, 2, 1))).as("generation").isFalse();
        assertThat(table.dispatch("qp", 1, 9, immediate(4, 0, 1))).as("generation").isFalse();
        assertThat(table.dispatch("qp", 1, 9, immediate(4, 1, 2))).as("index not given").isFalse();
        assertThat(table.dispatch("qp", 1, 9, immediate(4, 0, 0))).as("index 0").isFalse();
        assertThat(table.dispatch("qp", 1, 9, immediate(4, 1, 65_535))).as("index beyond all").isFalse();
        assertThat(events).isEmpty();
    }

    @Test
    void shouldNotReachTheNextHolderOfAnIndexUnderAnOldNumber()
    {
        final int number = table.add(new Recorder("first", "qp"));
        table.remove(number);
        assertThat(table.dispatch("qp", 1, 9, immediate(4, 1, 1))).isFalse();
        assertThat(table.add(new Recorder("second", "qp"))).isEqualTo(0x2_0001);
        assertThat(table.dispatch("qp", 1, 9, immediate(4, 1, 1))).isFalse();
        assertThat(table.dispatch("qp", 1, 9, immediate(4, 2, 1))).isTrue();
        assertThat(events).containsExactly("second 4 1 9");
    }

    @Test
    void shouldGiveNoMoreNumbersThanItMay()
    {
        for (int i = 1; i <= MOST; i++)
        {
            assertThat(table.add(new Recorder("r" + i, ("qp" + i).intern()))).isEqualTo(0x1_0000 + i);
        }
        assertThat(table.add(new Recorder("more", "qp"))).isZero();
        assertThat(table.limit().used()).isEqualTo(MOST);
        table.onQueuePairClosed("qp2");
        assertThat(events).containsExactly("r2 closed");
        table.onRefused();
        assertThat(events).hasSize(4);
    }

    @Test
    void shouldPollThoseThatWaitAndProbeAllNowAndThen()
    {
        final Recorder first = new Recorder("first", "qp");
        table.add(first);
        first.pollsLeft = 1;
        table.await(first);
        assertThat(table.poll(99)).isZero();
        assertThat(table.isWaiting()).isTrue();
        assertThat(table.poll(99)).isEqualTo(1);
        assertThat(table.isWaiting()).isFalse();
        assertThat(events).isEmpty();
        table.poll(100);
        table.poll(199);
        assertThat(events).containsExactly("first probe");
        table.poll(200);
        assertThat(events).hasSize(2);
    }
}
