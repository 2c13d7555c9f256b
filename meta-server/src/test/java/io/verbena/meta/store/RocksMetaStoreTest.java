package io.verbena.meta.store;

import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.directory.PeerRecord;
import io.verbena.rdma.verbs.DeviceAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDB;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

class RocksMetaStoreTest
{
    private static final MetaCounters COUNTERS = new MetaCounters(77, 5, 6, 7, 4097, 9, 10);
    private static final StoredNode NODE = new StoredNode(
        new PeerRecord(3, 4, 0, NodeRole.MEMORY_NODE, new DeviceAddress(1, 2), 18515,
            new RemoteRegion(4096, 1 << 20, 99)), StoredNodeState.LIVE, 0, 98);
    private static final StoredTable TABLE = new StoredTable("users", 5, "descriptor".getBytes(StandardCharsets.UTF_8));

    @TempDir
    private Path temp;

    @Test
    void shouldBeNewWhenFolderIsMissing()
    {
        try (RocksMetaStore store = RocksMetaStore.open(temp.resolve("a/b/data")))
        {
            assertThat(store.load().isNew()).isTrue();
        }
    }

    @Test
    void shouldKnowEverythingWrittenWhenOpenedAgain()
    {
        write(temp);

        try (RocksMetaStore store = RocksMetaStore.open(temp))
        {
            final MetaState state = store.load();
            assertThat(state.counters()).isEqualTo(COUNTERS);
            assertThat(state.nodes()).containsExactly(NODE);
            assertThat(state.tables()).hasSize(1);
            assertThat(state.tables().getFirst().name()).isEqualTo("users");
            assertThat(state.tables().getFirst().descriptor()).isEqualTo(TABLE.descriptor());
        }
    }

    @Test
    void shouldForgetWhatWasRemovedWhenOpenedAgain()
    {
        write(temp);

        try (RocksMetaStore store = RocksMetaStore.open(temp))
        {
            store.write(new MetaBatch().removeNode(3).removeTable("users"));
        }

        try (RocksMetaStore store = RocksMetaStore.open(temp))
        {
            assertThat(store.load()).isEqualTo(
                new MetaState(
                    COUNTERS, null, List.of(), List.of(), List.of(), List.of(), List.of()));
        }
    }

    @Test
    void shouldStartAfreshWhenMakingTheDatabaseWasInterrupted() throws IOException
    {
        Files.createDirectories(temp.resolve("rocksdb.unfinished"));
        Files.writeString(temp.resolve("rocksdb.unfinished/000004.log"), "half");

        try (RocksMetaStore store = RocksMetaStore.open(temp))
        {
            assertThat(store.load().isNew()).isTrue();
        }

        assertThat(temp.resolve("rocksdb.unfinished")).doesNotExist();
    }

    @Test
    void shouldNameTheOtherServerWhenFolderIsInUse()
    {
        try (RocksMetaStore store = RocksMetaStore.open(temp))
        {
            assertThat(store.load().isNew()).isTrue();
            final MetaStoreException failure = openFails(temp);
            assertThat(failure.category()).isEqualTo(MetaStoreException.Category.LOCKED);
            assertThat(failure).hasMessageContaining(temp.toString())
                .hasMessageContaining(Long.toString(ProcessHandle.current().pid()));
        }

        RocksMetaStore.open(temp).close();
    }

    @Test
    void shouldLeaveForeignFolderAloneWhenItHoldsSomethingElse() throws IOException
    {
        Files.writeString(temp.resolve("thesis.txt"), "chapter 1");

        final MetaStoreException failure = openFails(temp);

        assertThat(failure.category()).isEqualTo(MetaStoreException.Category.FOREIGN);
        assertThat(failure).hasMessageContaining("thesis.txt");
        try (Stream<Path> entries = Files.list(temp))
        {
            assertThat(entries.map((e) -> e.getFileName().toString())).containsExactly("thesis.txt");
        }
    }

    @Test
    void shouldRefuseFolderWhenItIsAFile() throws IOException
    {
        final Path file = Files.writeString(temp.resolve("file"), "x");

        assertThat(openFails(file).category()).isEqualTo(MetaStoreException.Category.FOREIGN);
    }

    @Test
    void shouldSayReadOnlyWhenFolderCannotBeMade()
    {
        final MetaStoreException failure = openFails(Path.of("/proc/self/verbena"));

        assertThat(failure.category()).isEqualTo(MetaStoreException.Category.READ_ONLY);
        assertThat(failure).hasMessageContaining("/proc/self/verbena").hasMessageContaining("rights");
    }

    @Test
    void shouldRefuseForeignDatabaseWhenItsRecordsAreNotOurs() throws Exception
    {
        RocksMetaStore.open(temp).close();
        putRaw("strange", new byte[]{1, 2, 3});

        final MetaStoreException failure = loadFails();

        assertThat(failure.category()).isEqualTo(MetaStoreException.Category.CORRUPT);
        assertThat(failure).hasMessageContaining("'strange'");
    }

    @Test
    void shouldNameRecordAndVersionWhenWrittenByAnotherBuild() throws Exception
    {
        write(temp);
        final byte[] record = MetaRecordDescriptor.encode(NODE);
        record[MetaRecordDescriptor.VERSION_OFFSET] = MetaRecordDescriptor.FORMAT_VERSION + 1;
        putRaw("node/00003", record);

        final MetaStoreException failure = loadFails();

        assertThat(failure.category()).isEqualTo(MetaStoreException.Category.UNKNOWN_VERSION);
        assertThat(failure).hasMessageContaining("node/00003")
            .hasMessageContaining("version " + (MetaRecordDescriptor.FORMAT_VERSION + 1));
    }

    @Test
    void shouldRefuseToStartWhenCountersAreMissing() throws Exception
    {
        RocksMetaStore.open(temp).close();
        putRaw("node/00003", MetaRecordDescriptor.encode(NODE));

        assertThat(loadFails()).hasMessageContaining("'counters'").hasMessageContaining("missing");
    }

    @Test
    void shouldSayCorruptWhenDatabaseFilesAreDamaged() throws IOException
    {
        write(temp);

        try (Stream<Path> files = Files.list(temp.resolve("rocksdb")))
        {
            for (final Path file : files.filter((f) -> f.getFileName().toString().startsWith("MANIFEST")).toList())
            {
                final byte[] bytes = Files.readAllBytes(file);
                bytes[bytes.length / 2] ^= 0x55;
                Files.write(file, bytes);
            }
        }

        final MetaStoreException failure = openFails(temp);
        assertThat(failure.category()).isEqualTo(MetaStoreException.Category.CORRUPT);
        assertThat(failure.getMessage()).contains(temp.toString()).doesNotContain("\n");
        assertThat(openFails(temp).category()).isEqualTo(MetaStoreException.Category.CORRUPT);
    }

    @Test
    void shouldSayCorruptAndNotBeginAnewWhenDatabaseIsEmptied() throws IOException
    {
        write(temp);

        try (Stream<Path> files = Files.list(temp.resolve("rocksdb")))
        {
            for (final Path file : files.toList())
            {
                Files.delete(file);
            }
        }

        assertThat(openFails(temp).category()).isEqualTo(MetaStoreException.Category.CORRUPT);
    }

    @Test
    void shouldNotForgetQuietlyWhenTheLogIsDamagedInTheMiddle() throws IOException
    {
        final Path live = temp.resolve("live");
        final Path crashed = temp.resolve("crashed/rocksdb");

        try (RocksMetaStore store = RocksMetaStore.open(live))
        {
            for (int i = 1; i <= 100; i++)
            {
                store.write(new MetaBatch().counters(new MetaCounters(77, i, 6, 7, 4097, 9, 10)));
            }

            // The log as a crash would leave it: copied before the clean close.
            copy(live.resolve("rocksdb"), crashed);
        }

        copy(crashed, temp.resolve("undamaged/rocksdb"));
        assertThat(nextIncarnation(temp.resolve("undamaged"))).isEqualTo(100);

        damageLog(crashed);
        final MetaStoreException failure = openFails(crashed.getParent());
        assertThat(failure.category()).isEqualTo(MetaStoreException.Category.CORRUPT);
    }

    @Test
    void shouldKnowAllAcknowledgedWritesWhenTheLastOneIsTorn() throws IOException
    {
        final Path live = temp.resolve("live");
        final Path crashed = temp.resolve("crashed/rocksdb");

        try (RocksMetaStore store = RocksMetaStore.open(live))
        {
            store.write(new MetaBatch().counters(COUNTERS));
            store.write(new MetaBatch().node(NODE));
            copy(live.resolve("rocksdb"), crashed);
        }

        final Path log = log(crashed);
        final byte[] bytes = Files.readAllBytes(log);
        Files.write(log, Arrays.copyOf(bytes, bytes.length - 10));

        try (RocksMetaStore store = RocksMetaStore.open(crashed.getParent()))
        {
            assertThat(store.load()).isEqualTo(
                new MetaState(
                    COUNTERS, null, List.of(), List.of(), List.of(), List.of(), List.of()));
        }
    }

    private static int nextIncarnation(final Path path)
    {
        try (RocksMetaStore store = RocksMetaStore.open(path))
        {
            return store.load().counters().nextIncarnation();
        }
    }

    private static void damageLog(final Path database) throws IOException
    {
        final Path log = log(database);
        final byte[] bytes = Files.readAllBytes(log);
        bytes[bytes.length / 2] ^= 0x55;
        Files.write(log, bytes);
    }

    private static Path log(final Path database) throws IOException
    {
        try (Stream<Path> files = Files.list(database))
        {
            return files.filter((f) -> f.getFileName().toString().endsWith(".log")).findFirst().orElseThrow();
        }
    }

    private static void copy(final Path from, final Path to) throws IOException
    {
        Files.createDirectories(to);

        try (Stream<Path> files = Files.list(from))
        {
            for (final Path file : files.toList())
            {
                Files.copy(file, to.resolve(file.getFileName()));
            }
        }
    }

    private void putRaw(final String key, final byte[] value) throws Exception
    {
        try (RocksDB database = RocksDB.open(temp.resolve("rocksdb").toString()))
        {
            database.put(key.getBytes(StandardCharsets.UTF_8), value);
        }
    }

    private static void write(final Path path)
    {
        try (RocksMetaStore store = RocksMetaStore.open(path))
        {
            store.write(new MetaBatch().counters(COUNTERS).node(NODE).table(TABLE));
        }
    }

    private MetaStoreException loadFails()
    {
        try (RocksMetaStore store = RocksMetaStore.open(temp))
        {
            return catchThrowableOfType(MetaStoreException.class, store::load);
        }
    }

    private static MetaStoreException openFails(final Path path)
    {
        final MetaStoreException failure =
            catchThrowableOfType(MetaStoreException.class, () -> RocksMetaStore.open(path).close());
        assertThat(failure).as("open must fail").isNotNull();
        return failure;
    }
}
