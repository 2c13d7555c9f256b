package io.verbena.embedded;

import io.verbena.client.KvInvalidRequestException;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tables with several copies, made through the ordinary client. */
class MirroredTableTest
{
    private static final int RECORDS = 500;

    private static EmbeddedCluster cluster;

    @BeforeAll
    static void start()
    {
        cluster = EmbeddedCluster.start(new EmbeddedClusterOptions().computeNodes(2).memoryNodes(2));
    }

    @AfterAll
    static void stop()
    {
        cluster.close();
    }

    private static byte[] bytes(final int number)
    {
        return ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
    }

    @Test
    void shouldKeepRecordsInTwoCopies()
    {
        final KvTable table = cluster.client().createTable("copied", new TableOptions(RECORDS, 2));
        for (int i = 0; i < RECORDS; i++)
        {
            table.put(bytes(i), bytes(-i));
        }
        for (int i = 0; i < RECORDS; i += 2)
        {
            assertThat(table.delete(bytes(i))).isTrue();
        }
        for (int i = 0; i < RECORDS; i++)
        {
            if (0 == i % 2)
            {
                assertThat(table.get(bytes(i))).isEmpty();
            }
            else
            {
                assertThat(table.get(bytes(i)).orElseThrow().value()).isEqualTo(bytes(-i));
            }
        }
        cluster.client().dropTable("copied");
        assertThat(cluster.client().tables()).doesNotContain("copied");
    }

    @Test
    void shouldRefuseMoreCopiesThanMemoryNodes()
    {
        assertThatThrownBy(() -> cluster.client().createTable("many", new TableOptions(10, 3)))
            .isInstanceOf(KvInvalidRequestException.class)
            .hasMessage("create table many was refused: 3 copies need as many memory nodes, and 2 are connected to " +
                "this compute node: start more, or ask for fewer");
        assertThat(cluster.client().tables()).doesNotContain("many");
    }
}
