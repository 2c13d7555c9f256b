package io.verbena.meta.store;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class MetaCommandDescriptorTest
{
    private static final MetaCounters COUNTERS = new MetaCounters(7, 11, 12, 13, 4097, 15, 16);

    private static MetaBatch batch()
    {
        return new MetaBatch().counters(COUNTERS).table(new StoredTable("t", 3, new byte[]{1, 2, 3}))
            .removeTable("gone").node(StoredNode.spare(7, 8, 9)).removeNode(5);
    }

    @Test
    void shouldMatchGoldenBytes()
    {
        assertThat(HexFormat.of().formatHex(MetaCommandDescriptor.encode(
                MetaCommand.takeLeadership(0x0102030405060708L, "meta-2"))))
            .isEqualTo("564d434d040001004f8d551f81ee58ba" + "08070605040302010000000000000000" +
                "000000000000000006000000000000006d6574612d32");
        assertThat(HexFormat.of().formatHex(MetaCommandDescriptor.encode(
                MetaCommand.announce("a", "h:1", List.of("b")))))
            .isEqualTo("564d434d040004003609e01032f5901f" + "0000000000000000" + "00".repeat(16) + "01000000" +
                "02000000" + "61" + "0900000003000000" + "616464726573732f61" + "683a31" + "09000000ffffffff" +
                "616464726573732f62");
    }

    /** In the log of a group that was made by an earlier build. */
    @ParameterizedTest
    @ValueSource(strings = {"564d434d01000100fd778363306b4c21", "564d434d0200010070524499b445f19e",
        "564d434d030001002ecdd20aaa2f9634"})
    void shouldReadACommandOfAnEarlierVersion(final String firstBytes)
    {
        final MetaCommand read = MetaCommandDescriptor.decode("test", HexFormat.of().parseHex(
            firstBytes + "08070605040302010000000000000000" + "000000000000000006000000000000006d6574612d32"));
        assertThat(read.kind()).isEqualTo(MetaCommand.Kind.TAKE_LEADERSHIP);
        assertThat(read.leadership()).isEqualTo(0x0102030405060708L);
        assertThat(read.member()).isEqualTo("meta-2");
    }

    @Test
    void shouldKnowWhereMembersListenWhoeverLeads()
    {
        final ReplicatedState state = new ReplicatedState();
        assertThat(state.apply(1, 0, announced("a", "h:1"))).as("before anybody leads").isTrue();
        assertThat(state.isEmpty()).as("nothing was written").isTrue();
        state.apply(1, 1, MetaCommand.takeLeadership(0, "a"));
        state.apply(1, 2, MetaCommand.write(1, batch()));
        assertThat(state.apply(1, 3, announced("b", "h:2"))).isTrue();
        assertThat(state.apply(1, 4, announced("a", "h:3"))).isTrue();
        assertThat(state.addresses()).containsExactly(Map.entry("a", "h:3"), Map.entry("b", "h:2"));
        assertThat(state.apply(1, 5, announced("c", "h:4", "a", "z"))).isTrue();
        assertThat(state.addresses()).as("a was removed").containsExactly(Map.entry("b", "h:2"), Map.entry("c", "h:4"));
        final InMemoryMetaStore store = new InMemoryMetaStore();
        store.write(batch());
        assertThat(state.load()).as("they are no records").usingRecursiveComparison().isEqualTo(store.load());

        final ReplicatedState other = new ReplicatedState();
        other.apply(1, 0, announced("x", "h:9"));
        other.restore(MetaCommandDescriptor.decode("test", MetaCommandDescriptor.encode(state.snapshot())));
        assertThat(other.addresses()).isEqualTo(state.addresses());
        assertThat(other.load()).usingRecursiveComparison().isEqualTo(store.load());
    }

    private static MetaCommand announced(final String member, final String address, final String... gone)
    {
        return MetaCommandDescriptor.decode("test",
            MetaCommandDescriptor.encode(MetaCommand.announce(member, address, List.of(gone))));
    }

    @Test
    void shouldReadWhatItWrote()
    {
        final MetaCommand written = MetaCommand.write(42, batch());
        final MetaCommand read = MetaCommandDescriptor.decode("test", MetaCommandDescriptor.encode(written));
        assertThat(read.kind()).isEqualTo(MetaCommand.Kind.WRITE);
        assertThat(read.leadership()).isEqualTo(42);
        assertThat(MetaCommandDescriptor.encode(read)).isEqualTo(MetaCommandDescriptor.encode(written));

        final ReplicatedState state = new ReplicatedState();
        assertThat(state.apply(1, 0, MetaCommand.takeLeadership(0, "a"))).isTrue();
        assertThat(state.apply(1, 1, MetaCommand.write(1, batch()))).isTrue();
        final InMemoryMetaStore store = new InMemoryMetaStore();
        store.write(batch());
        assertThat(state.load()).usingRecursiveComparison().isEqualTo(store.load());
    }

    @Test
    void shouldApplyOnlyWhatTheLatestLeadershipCommands()
    {
        final ReplicatedState state = new ReplicatedState();
        assertThat(state.apply(1, 0, MetaCommand.write(1, batch()))).as("nobody leads").isFalse();
        assertThat(state.apply(1, 1, null)).isFalse();
        assertThat(state.apply(1, 2, MetaCommand.takeLeadership(0, "a"))).isTrue();
        assertThat(state.apply(1, 3, MetaCommand.takeLeadership(0, "b"))).as("the second of two").isFalse();
        assertThat(state.leadership()).isEqualTo(new ReplicatedState.Leadership(1, "a"));
        assertThat(state.apply(2, 4, MetaCommand.takeLeadership(1, "b"))).isTrue();
        assertThat(state.apply(2, 5, MetaCommand.write(1, batch()))).as("of the one before").isFalse();
        assertThat(state.isEmpty()).isTrue();
        assertThat(state.apply(2, 6, MetaCommand.write(2, batch()))).isTrue();
        assertThat(state.load().counters()).isEqualTo(COUNTERS);
        assertThat(state.apply(2, 7, state.snapshot())).as("no command of a log").isFalse();
        assertThat(state.index()).isEqualTo(7);
        assertThatThrownBy(() -> state.apply(2, 7, null)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldRestoreASnapshotInPlaceOfAllThatWasThere()
    {
        final ReplicatedState state = new ReplicatedState();
        state.apply(3, 10, MetaCommand.takeLeadership(0, "a"));
        state.apply(3, 11, MetaCommand.write(1, batch()));
        final ReplicatedState other = new ReplicatedState();
        other.apply(1, 0, MetaCommand.takeLeadership(0, "x"));
        other.apply(1, 1, MetaCommand.write(1, new MetaBatch().table(new StoredTable("other", 1, new byte[0]))));
        other.restore(MetaCommandDescriptor.decode("test", MetaCommandDescriptor.encode(state.snapshot())));
        assertThat(other.load()).usingRecursiveComparison().isEqualTo(state.load());
        assertThat(other.leadership()).isEqualTo(state.leadership());
        assertThat(other.index()).isEqualTo(11);
        assertThat(other.term()).isEqualTo(3);
        assertThatThrownBy(() -> other.restore(MetaCommand.write(1, batch()))).isInstanceOf(MetaStoreException.class);
    }

    @Test
    void shouldRefuseEveryChangedByteAndEveryLength()
    {
        final byte[] whole = MetaCommandDescriptor.encode(MetaCommand.write(42, batch()));
        final Random random = new Random(1);
        for (int i = 0; i < whole.length; i++)
        {
            final byte[] changed = whole.clone();
            changed[i] ^= (byte)(1 << random.nextInt(8));
            assertThatThrownBy(() -> MetaCommandDescriptor.decode("log", changed)).as("byte %s", i)
                .isInstanceOf(MetaStoreException.class).hasMessageContaining("in log");
            final byte[] shorter = Arrays.copyOf(whole, i);
            assertThatThrownBy(() -> MetaCommandDescriptor.decode("log", shorter)).as("length %s", i)
                .isInstanceOf(MetaStoreException.class);
        }
        assertThatThrownBy(() -> MetaCommandDescriptor.decode("log", Arrays.copyOf(whole, whole.length + 1)))
            .isInstanceOf(MetaStoreException.class);
    }

    /** Whoever changes the format of records changes this one, too, and then both numbers here. */
    @Test
    void shouldHaveAVersionOfItsOwnForEachFormatOfRecords()
    {
        assertThat(MetaRecordDescriptor.FORMAT_VERSION).isEqualTo(17);
        assertThat(MetaCommandDescriptor.FORMAT_VERSION).isEqualTo(4);
    }

    @Test
    void shouldBeAsThePageDescribesIt() throws IOException, IllegalAccessException
    {
        final String page = Files.readString(Path.of("../docs/format/meta-command.md"));
        assertThat(page).contains("Format version: " + MetaCommandDescriptor.FORMAT_VERSION + "\n");
        final Map<String, Integer> described = new TreeMap<>();
        final Matcher row = Pattern.compile("^\\| (\\d+) \\| `(\\w+)` \\|", Pattern.MULTILINE).matcher(page);
        while (row.find())
        {
            described.put(row.group(2), Integer.parseInt(row.group(1)));
        }
        final Map<String, Integer> present = new TreeMap<>();
        for (final Field field : MetaCommandDescriptor.class.getDeclaredFields())
        {
            if (!Modifier.isPrivate(field.getModifiers()) &&
                (field.getName().endsWith("_OFFSET") || field.getName().equals("HEAD_LENGTH")))
            {
                present.put(field.getName(), field.getInt(null));
            }
        }
        assertThat(described).isEqualTo(present);
    }
}
