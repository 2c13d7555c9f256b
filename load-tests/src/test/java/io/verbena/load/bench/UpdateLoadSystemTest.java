package io.verbena.load.bench;

import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;
import io.verbena.embedded.EmbeddedCluster;
import io.verbena.embedded.Verbena;

import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;

import static org.assertj.core.api.Assertions.assertThat;

class UpdateLoadSystemTest
{
    private static final int RECORDS = 10;
    private static final int OPERATIONS = 2_000;

    private static byte[] bytes(final long number, final int lengthBytes)
    {
        final ByteBuffer bytes = ByteBuffer.allocate(lengthBytes);
        return (lengthBytes == Integer.BYTES ? bytes.putInt((int)number) : bytes.putLong(number)).array();
    }

    /** A record that is missing, one that is older, and one that nobody wrote. */
    @Test
    void shouldFindUpdatesThatAreGone() throws InterruptedException
    {
        try (EmbeddedCluster cluster = Verbena.embedded())
        {
            final KvTable table = cluster.client().createTable("load", new TableOptions(RECORDS));
            final UpdateLoad load = new UpdateLoad(table, RECORDS, SystemNanoClock.INSTANCE);
            try (load)
            {
                while (load.operations() < OPERATIONS)
                {
                    Thread.sleep(1);
                }
                assertThat(load.longestNs()).isPositive();
            }
            assertThat(load.failures()).isEmpty();
            assertThat(load.stale()).isZero();
            assertThat(load.audit()).isZero();
            table.delete(bytes(1, Integer.BYTES));
            assertThat(load.audit()).isEqualTo(1);
            table.put(bytes(3, Integer.BYTES), bytes(Long.MAX_VALUE, Long.BYTES));
            assertThat(load.audit()).isEqualTo(2);
            int older = 0;
            for (int i = 4; i < RECORDS; i++)
            {
                final byte[] value = table.get(bytes(i, Integer.BYTES)).orElseThrow().value();
                older += ByteBuffer.wrap(value).getLong() > 0 ? 1 : 0;
                table.put(bytes(i, Integer.BYTES), bytes(0, Long.BYTES));
            }
            assertThat(older).as("updates reach most records").isGreaterThan(2);
            assertThat(load.audit()).isEqualTo(2 + older);
        }
    }

    @Test
    void shouldCountReadsThatShowLessThanWasAcknowledged() throws InterruptedException
    {
        try (EmbeddedCluster cluster = Verbena.embedded())
        {
            final KvTable table = cluster.client().createTable("load", new TableOptions(RECORDS));
            try (UpdateLoad load = new UpdateLoad(table, UpdateLoad.THREADS, SystemNanoClock.INSTANCE))
            {
                while (load.operations() < OPERATIONS || load.stale() == 0)
                {
                    table.put(bytes(0, Integer.BYTES), bytes(0, Long.BYTES));
                }
            }
        }
    }
}
