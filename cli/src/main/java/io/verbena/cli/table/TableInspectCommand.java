package io.verbena.cli.table;

import io.verbena.cli.cluster.ClientOptions;
import io.verbena.cli.cluster.OpenedStore;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.SettingsProvider;
import io.verbena.cli.record.RecordOptions;
import io.verbena.compute.ComputeNodeException;
import io.verbena.load.report.JsonWriter;
import io.verbena.table.check.RepairableStore;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.CounterValue;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.FormatException;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.SuperblockDescriptor;
import io.verbena.table.format.TableDescriptor;

import org.agrona.concurrent.UnsafeBuffer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Locale;
import java.util.concurrent.Callable;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/** {@code verbena table inspect}. */
@Command(
    name = "inspect",
    description = "Print one structure of the memory, field by field, of a cluster that is up, or whose processes " +
        "have ended without 'down'.",
    footer = {"",
        "superblock        of a memory node", "chunk N           header of its chunk N",
        "directory         of a table: where its subtables are", "subtable N        header of subtable N",
        "bucket N          bucket N of the subtable, three to a group", "slot ADDRESS      the slot word at an offset",
        "block ADDRESS     the record at an offset",
        "slot, block       of the record with the key that --key or --key-hex gives", "",
        "Examples: verbena table inspect directory --table orders",
        "          verbena table inspect bucket 17 --subtable 3 --hex",
        "          verbena table inspect block 0x41000 --memory-node 2",
        "          verbena table inspect block --key hello"},
    defaultValueProvider = SettingsProvider.class)
final class TableInspectCommand implements Callable<Integer>
{
    @Spec
    private CommandSpec spec;

    @Mixin
    private ClientOptions options;

    @Parameters(index = "0", paramLabel = "WHAT",
        description = "superblock, directory, subtable, bucket, slot, block or chunk.")
    private String what;

    @Parameters(index = "1", paramLabel = "WHICH", arity = "0..1",
        description = "Number, or offset in the memory node's region, decimal or 0x....")
    private String which;

    @Option(names = "--table", paramLabel = "NAME", defaultValue = "default",
        description = "Of the table. Default: ${DEFAULT-VALUE}.")
    private String tableName;

    @Option(names = "--subtable", paramLabel = "N", defaultValue = "0",
        description = "Subtable that a bucket is in. Default: ${DEFAULT-VALUE}.")
    private int subtable;

    @Option(names = "--memory-node", paramLabel = "ID", defaultValue = "0",
        description = "Id of the memory node, or of a group, of which the primary is read. " +
            "Default: the only one.")
    private int memoryNode;

    @Option(names = "--key", paramLabel = "KEY", description = "Of the record whose slot or block is meant.")
    private String key;

    @Option(names = "--key-hex", paramLabel = "DIGITS", description = "As --key, in hex digits.")
    private String keyHex;

    @Option(names = "--hex", description = "Print the bytes too.")
    private boolean hex;

    @Option(names = "--json", description = "As one JSON object.")
    private boolean json;

    private OpenedStore opened;
    private RepairableStore store;

    @Override
    public Integer call()
    {
        checkKey();
        number(); // one line for a bad one, before anything is opened
        try (OpenedStore cluster = options.openStore(); Arena arena = Arena.ofConfined())
        {
            opened = cluster;
            store = cluster.store();
            final InspectedFields fields = inspect(arena);
            final PrintWriter out = spec.commandLine().getOut();
            out.print(json ? JsonWriter.write(fields.figures(hex)) : fields.text(hex));
            out.flush();
            return fields.isWhole() ? ExitStatus.OK : ExitStatus.FAILED;
        }
        catch (final ComputeNodeException ex)
        {
            throw new CommandFailedException(ExitStatus.UNAVAILABLE, ex.getMessage(), ex);
        }
    }

    private static CommandFailedException usage(final String message)
    {
        return new CommandFailedException(ExitStatus.USAGE, message, null);
    }

    private long number()
    {
        final boolean needsNone = switch (what)
        {
            case "superblock", "directory" -> true;
            case "chunk", "subtable", "bucket", "slot", "block" -> false;
            default -> throw usage("'" + what +
                "' is not one of superblock, directory, subtable, bucket, slot, block, chunk");
        } || isByKey();
        if (needsNone != (null == which))
        {
            throw usage(isByKey() ? what + " of a key takes no offset: '" + which + "'" :
                needsNone ? what + " takes no number: '" + which + "'" +
                ("directory".equals(what) ? "; --table names the table" : "; --memory-node names the memory node") :
                "which " + what + ": give its " + ("slot".equals(what) || "block".equals(what) ? "offset" : "number"));
        }
        try
        {
            final long number = needsNone ? 0 : Long.decode(which);
            if (number >= 0)
            {
                return number;
            }
        }
        catch (final NumberFormatException ex)
        {
            // reported below
        }
        throw usage("'" + which + "' is not a number of 0 or more, decimal or 0x...");
    }

    private InspectedFields inspect(final Arena arena)
    {
        return switch (what)
        {
            case "superblock" -> superblock(arena);
            case "chunk" -> chunk(arena, number());
            case "directory" -> directory();
            case "subtable" -> subtable(arena, (int)Math.min(number(), Integer.MAX_VALUE));
            case "bucket" -> bucket(arena, number());
            case "slot" -> isByKey() ? slot(arena, located(arena).slotOffset()) : slot(arena, number());
            default -> isByKey() ? block(arena, located(arena).blockOffset()) : block(arena, number());
        };
    }

    private boolean isByKey()
    {
        return null != key || null != keyHex;
    }

    private void checkKey()
    {
        if (isByKey() && !"slot".equals(what) && !"block".equals(what))
        {
            throw usage("--key: a record has a slot and a block, and no " + what);
        }
        if (null != key && null != keyHex)
        {
            throw usage("--key and --key-hex: choose one");
        }
        if (isByKey())
        {
            keyBytes();
        }
    }

    private byte[] keyBytes()
    {
        final byte[] bytes = null == keyHex ? RecordOptions.bytes("--key", key, false, "--key-hex") :
            RecordOptions.bytes("--key-hex", keyHex, true, "--key-hex");
        if (0 == bytes.length)
        {
            throw usage("a key has 1 byte or more");
        }
        return bytes;
    }

    /** Where the record is; from here on its memory node is the one that is meant. */
    private RecordLocation located(final Arena arena)
    {
        final RecordLocation location = RecordLocation.find(arena, store, table(), keyBytes())
            .orElseThrow(() -> new CommandFailedException(ExitStatus.FAILED, "no such record in table " + tableName +
                "; where a subtable is being split or merged now, try again", null));
        memoryNode = location.memoryNodeId();
        return location;
    }

    private UnsafeBuffer read(final Arena arena, final int node, final long offset, final int lengthBytes)
    {
        final UnsafeBuffer bytes = new UnsafeBuffer(arena.allocate(lengthBytes, 64).address(), lengthBytes);
        store.read(node, offset, bytes, lengthBytes);
        return bytes;
    }

    private int node()
    {
        if (0 != memoryNode)
        {
            if (!opened.memoryNodeIds().contains(memoryNode) && !store.isOfGroup(memoryNode))
            {
                throw usage("--memory-node " + memoryNode + ": there are " + opened.memoryNodeIds() +
                    (store.groupIds().isEmpty() ? "" : ", and groups of them " + store.groupIds()));
            }
            return memoryNode;
        }
        if (opened.memoryNodeIds().size() != 1)
        {
            throw usage("which memory node: give --memory-node, one of " + opened.memoryNodeIds());
        }
        return opened.memoryNodeIds().getFirst();
    }

    private TableDescriptor table()
    {
        return store.tables().stream().filter((table) -> table.name().equals(tableName)).findFirst()
            .orElseThrow(() -> usage("no such table: name=" + tableName));
    }

    private long entry(final TableDescriptor table, final int suffix)
    {
        if (suffix < 0 || suffix >= table.subtableCount())
        {
            throw usage("subtable " + suffix + ": table " + tableName + " has 0 to " + (table.subtableCount() - 1));
        }
        return table.entry(suffix);
    }

    private Superblock superblockOf(final Arena arena, final int node)
    {
        final MemorySegment page = arena.allocate(SuperblockDescriptor.READ_BYTES, 64);
        store.read(node, 0, new UnsafeBuffer(page.address(), SuperblockDescriptor.READ_BYTES),
            SuperblockDescriptor.READ_BYTES);
        try
        {
            return SuperblockDescriptor.read(page);
        }
        catch (final FormatException ex)
        {
            throw new CommandFailedException(ExitStatus.FAILED, "memory node " + node + ": " + ex.getMessage(), ex);
        }
    }

    /** The offset, if so many bytes from there are in the region. */
    private long checked(final Arena arena, final int node, final long offset, final int lengthBytes, final int align)
    {
        final long length = superblockOf(arena, node).regionLengthBytes();
        if (0 != offset % align || offset > length - lengthBytes)
        {
            throw usage(String.format("%s at 0x%x: its offset must be a multiple of %d below 0x%x",
                what, offset, align, length - lengthBytes + 1));
        }
        return offset;
    }

    private InspectedFields superblock(final Arena arena)
    {
        final int node = node();
        final UnsafeBuffer page = read(arena, node, 0, SuperblockDescriptor.READ_BYTES);
        final InspectedFields fields = new InspectedFields("superblock of memory node " + node, page, page.capacity());
        fields.check(() -> superblockOf(arena, node));
        return fields
            .add("magic", SuperblockDescriptor.MAGIC_OFFSET, page.getStringWithoutLengthAscii(0, Long.BYTES))
            .number("format version", SuperblockDescriptor.VERSION_OFFSET, Integer.BYTES)
            .number("length", SuperblockDescriptor.LENGTH_OFFSET, Integer.BYTES)
            .number("node id", SuperblockDescriptor.NODE_ID_OFFSET, Integer.BYTES)
            .number("incarnation", SuperblockDescriptor.INCARNATION_OFFSET, Integer.BYTES)
            .number("region length", SuperblockDescriptor.REGION_LENGTH_OFFSET, Long.BYTES)
            .hexNumber("chunks offset", SuperblockDescriptor.CHUNKS_OFFSET_OFFSET)
            .number("chunk length", SuperblockDescriptor.CHUNK_LENGTH_OFFSET, Integer.BYTES)
            .number("chunk count", SuperblockDescriptor.CHUNK_COUNT_OFFSET, Integer.BYTES)
            .hexNumber("chunk headers offset", SuperblockDescriptor.CHUNK_HEADERS_OFFSET_OFFSET)
            .hexNumber("checksum", SuperblockDescriptor.CHECKSUM_OFFSET)
            .number("view version", SuperblockDescriptor.VIEW_VERSION_OFFSET, Long.BYTES)
            .number("restored", SuperblockDescriptor.RESTORED_OFFSET, Long.BYTES);
    }

    private InspectedFields chunk(final Arena arena, final long index)
    {
        final int node = node();
        final Superblock superblock = superblockOf(arena, node);
        if (index >= superblock.chunkCount())
        {
            throw usage("chunk " + index + ": memory node " + node + " has 0 to " + (superblock.chunkCount() - 1));
        }
        final UnsafeBuffer header = read(arena, node,
            superblock.chunkHeadersOffset() + index * ChunkDescriptor.HEADER_BYTES, ChunkDescriptor.HEADER_BYTES);
        final long offset = superblock.chunksOffset() + index * superblock.chunkLengthBytes();
        final InspectedFields fields = new InspectedFields(String.format(Locale.ROOT,
            "chunk %d of memory node %d, its memory from 0x%x to 0x%x", index, node, offset,
            offset + superblock.chunkLengthBytes()), header, header.capacity());
        fields.check(() -> ChunkDescriptor.check(header, 0));
        return fields
            .add("magic", ChunkDescriptor.MAGIC_OFFSET, header.getStringWithoutLengthAscii(0, Integer.BYTES))
            .number("format", ChunkDescriptor.FORMAT_OFFSET, Byte.BYTES)
            .add("state", ChunkDescriptor.STATE_OFFSET, stateName(ChunkDescriptor.state(header, 0)))
            .number("group", ChunkDescriptor.GROUP_OFFSET, Short.BYTES)
            .number("owner node id", ChunkDescriptor.OWNER_NODE_ID_OFFSET, Integer.BYTES)
            .number("owner incarnation", ChunkDescriptor.OWNER_INCARNATION_OFFSET, Integer.BYTES)
            .number("reaper node id", ChunkDescriptor.REAPER_NODE_ID_OFFSET, Integer.BYTES)
            .number("reaper incarnation", ChunkDescriptor.REAPER_INCARNATION_OFFSET, Integer.BYTES)
            .number("lease number", ChunkDescriptor.LEASE_NUMBER_OFFSET, Long.BYTES)
            .number("request id", ChunkDescriptor.REQUEST_ID_OFFSET, Long.BYTES)
            .number("view", ChunkDescriptor.VIEW_OFFSET, Long.BYTES)
            .number("count", ChunkDescriptor.COUNT_OFFSET, Long.BYTES)
            .hexNumber("checksum", ChunkDescriptor.CHECKSUM_OFFSET);
    }

    private static String stateName(final int state)
    {
        return state < 0 || state > ChunkDescriptor.STATE_QUARANTINED ? "no such state " + state :
            ChunkDescriptor.stateName(state);
    }

    private InspectedFields directory()
    {
        final TableDescriptor table = table();
        final byte[] bytes = table.encode();
        final UnsafeBuffer content = new UnsafeBuffer(bytes);
        final InspectedFields fields = new InspectedFields("directory of table " + tableName, content, bytes.length);
        fields.add("table id", TableDescriptor.TABLE_ID_OFFSET, String.format("0x%08x", table.tableId()))
            .add("depth", TableDescriptor.DEPTH_OFFSET, table.depth())
            .add("groups each", TableDescriptor.GROUP_COUNT_OFFSET, table.groupCount())
            .hexNumber("hash seed", TableDescriptor.HASH_SEED_OFFSET);
        final int memoryNodes = content.getShort(TableDescriptor.NODES_OFFSET, LITTLE_ENDIAN);
        fields.number("subtables", TableDescriptor.SUBTABLES_OFFSET, Integer.BYTES)
            .add("memory nodes", TableDescriptor.NODES_OFFSET, memoryNodes);
        final int treeOffset = TableDescriptor.NODE_IDS_OFFSET + memoryNodes * Short.BYTES;
        for (int suffix = 0; suffix < table.subtableCount(); suffix++)
        {
            final long entry = table.entry(suffix);
            if (suffix >>> DirectoryEntry.depth(entry) == 0)
            {
                fields.add("subtable " + suffix, treeOffset, String.format(
                    "%s, offset 0x%x, depth %d", opened.place(DirectoryEntry.memoryNodeId(entry)),
                    DirectoryEntry.subtableOffset(entry), DirectoryEntry.depth(entry)));
            }
        }
        return fields;
    }

    private InspectedFields subtable(final Arena arena, final int suffix)
    {
        final long entry = entry(table(), suffix);
        final int node = DirectoryEntry.memoryNodeId(entry);
        final UnsafeBuffer header =
            read(arena, node, DirectoryEntry.subtableOffset(entry), SubtableDescriptor.HEADER_BYTES);
        final InspectedFields fields = new InspectedFields(String.format("subtable %d of table %s, at 0x%x of %s",
            suffix, tableName, DirectoryEntry.subtableOffset(entry), opened.place(node)), header, header.capacity());
        fields.check(() -> SubtableDescriptor.check(header, 0));
        return fields
            .add("magic", SubtableDescriptor.MAGIC_OFFSET, header.getStringWithoutLengthAscii(0, Integer.BYTES))
            .number("format", SubtableDescriptor.FORMAT_OFFSET, Byte.BYTES)
            .number("depth", SubtableDescriptor.DEPTH_OFFSET, Byte.BYTES)
            .add("table id", SubtableDescriptor.TABLE_ID_OFFSET,
                String.format("0x%08x", SubtableDescriptor.tableId(header, 0)))
            .number("suffix", SubtableDescriptor.SUFFIX_OFFSET, Integer.BYTES)
            .number("group count", SubtableDescriptor.GROUP_COUNT_OFFSET, Integer.BYTES)
            .hexNumber("hash seed", SubtableDescriptor.HASH_SEED_OFFSET)
            .hexNumber("split", SubtableDescriptor.SPLIT_OFFSET)
            .hexNumber("predecessor", SubtableDescriptor.PREDECESSOR_OFFSET)
            .hexNumber("checksum", SubtableDescriptor.CHECKSUM_OFFSET);
    }

    private InspectedFields bucket(final Arena arena, final long index)
    {
        final TableDescriptor table = table();
        final long entry = entry(table, subtable);
        final long count = (long)table.groupCount() * BucketDescriptor.BUCKETS_PER_GROUP;
        if (index >= count)
        {
            throw usage("bucket " + index + ": subtable " + subtable + " of table " + tableName + " has 0 to " +
                (count - 1));
        }
        final long offset = DirectoryEntry.subtableOffset(entry) + SubtableDescriptor.GROUPS_OFFSET +
            index * BucketDescriptor.BUCKET_BYTES;
        final int node = DirectoryEntry.memoryNodeId(entry);
        final UnsafeBuffer bucket = read(arena, node, offset, BucketDescriptor.BUCKET_BYTES);
        final InspectedFields fields = new InspectedFields(String.format(Locale.ROOT,
            "bucket %d of subtable %d of table %s, group %d, at 0x%x of %s", index, subtable, tableName,
            index / BucketDescriptor.BUCKETS_PER_GROUP, offset, opened.place(node)), bucket, bucket.capacity());
        final long header = bucket.getLong(BucketDescriptor.HEADER_OFFSET, LITTLE_ENDIAN);
        fields.require(header == BucketDescriptor.header(table.tableId(), subtable, table.depth()),
            "its header is another one's");
        fields.add("header", BucketDescriptor.HEADER_OFFSET, String.format(
            "format %d, depth %d, suffix %d, table 0x%08x", BucketDescriptor.formatVersion(header),
            BucketDescriptor.depth(header), BucketDescriptor.suffix(header),
            BucketDescriptor.tableId(header)));
        for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_BUCKET; slot++)
        {
            final int at = BucketDescriptor.SLOTS_OFFSET + slot * BucketDescriptor.SLOT_BYTES;
            fields.add(String.format("slot %d at 0x%x", slot, offset + at), at,
                SlotWord.toString(bucket.getLong(at, LITTLE_ENDIAN)));
        }
        return fields;
    }

    private InspectedFields slot(final Arena arena, final long offset)
    {
        final int node = node();
        checked(arena, node, offset, BucketDescriptor.SLOT_BYTES, BucketDescriptor.SLOT_BYTES);
        final UnsafeBuffer bytes = read(arena, node, offset, BucketDescriptor.SLOT_BYTES);
        final long word = bytes.getLong(0, LITTLE_ENDIAN);
        final InspectedFields fields = new InspectedFields(
            String.format("slot at 0x%x of %s", offset, opened.place(node)), bytes, bytes.capacity());
        fields.add("word", 0, String.format("0x%016x", word)).add("reads as", 0, SlotWord.toString(word));
        if (!SlotWord.isEmpty(word) && SlotWord.UNINITIALISED != word)
        {
            fields.add("fingerprint", 0, String.format("0x%04x", SlotWord.fingerprint(word)))
                .add("window", 0, SlotWord.window(word))
                .add("version bits", 0, SlotWord.versionBits(word))
                .add("size class", 0, SlotWord.sizeClass(word) + ", " +
                    SizeClasses.lengthBytes(SlotWord.sizeClass(word)) + " bytes")
                .add("block offset", 0, String.format("0x%x", SlotWord.blockOffset(word)));
        }
        return fields;
    }

    private InspectedFields block(final Arena arena, final long offset)
    {
        final int node = node();
        checked(arena, node, offset, BlockDescriptor.HEADER_BYTES, SlotWord.BLOCK_ALIGNMENT_BYTES);
        final UnsafeBuffer header = read(arena, node, offset, BlockDescriptor.HEADER_BYTES);
        final int keyLength = BlockDescriptor.keyLength(header, 0);
        final int valueLength = BlockDescriptor.valueLength(header, 0);
        final boolean fits = valueLength >= 0 && valueLength <= BlockDescriptor.MAX_VALUE_BYTES &&
            offset + BlockDescriptor.recordLength(keyLength, valueLength) <=
            superblockOf(arena, node).regionLengthBytes();
        final int length = fits ? BlockDescriptor.recordLength(keyLength, valueLength) : BlockDescriptor.HEADER_BYTES;
        final UnsafeBuffer block = read(arena, node, offset, length);
        final InspectedFields fields = new InspectedFields(
            String.format("block at 0x%x of %s", offset, opened.place(node)), block, length);
        fields.require(fits && BlockDescriptor.formatVersion(block, 0) == BlockDescriptor.FORMAT_VERSION,
            "there is no block here");
        fields.hexNumber("checksum", BlockDescriptor.CHECKSUM_OFFSET)
            .number("format", BlockDescriptor.FORMAT_OFFSET, Byte.BYTES)
            .number("flags", BlockDescriptor.FLAGS_OFFSET, Byte.BYTES)
            .add("key length", BlockDescriptor.KEY_LENGTH_OFFSET, keyLength)
            .add("value length", BlockDescriptor.VALUE_LENGTH_OFFSET, valueLength)
            .add("table id", BlockDescriptor.TABLE_ID_OFFSET,
                String.format("0x%08x", BlockDescriptor.tableId(block, 0)))
            .number("client id", BlockDescriptor.CLIENT_ID_OFFSET, Integer.BYTES)
            .number("version", BlockDescriptor.VERSION_OFFSET, Long.BYTES)
            .number("sequence", BlockDescriptor.SEQUENCE_OFFSET, Long.BYTES)
            .number("expiry, ms", BlockDescriptor.EXPIRY_OFFSET, Long.BYTES)
            .hexNumber("key hash", BlockDescriptor.KEY_HASH_OFFSET)
            .add("predecessor", BlockDescriptor.PREDECESSOR_OFFSET,
                SlotWord.toString(BlockDescriptor.predecessor(block, 0)));
        return !fits ? fields : fields.bytes("key", BlockDescriptor.KEY_OFFSET, keyLength)
            .bytes("value", BlockDescriptor.KEY_OFFSET + keyLength, valueLength)
            .add("counter", BlockDescriptor.KEY_OFFSET + keyLength, counter(block, keyLength, valueLength));
    }

    /** @return whether the value of a block is a number, and in which form. */
    private static String counter(final UnsafeBuffer block, final int keyLength, final int valueLength)
    {
        final int at = BlockDescriptor.KEY_OFFSET + keyLength;
        final int form = CounterValue.form(block, at, valueLength, BlockDescriptor.flags(block, 0));
        return form == CounterValue.NONE ? "no" : CounterValue.number(block, at, valueLength, form) + switch (form)
        {
            case CounterValue.DIGITS -> ", in digits";
            case CounterValue.BINARY -> ", in 8 bytes";
            default -> ", if the 8 bytes are a number: no increment wrote them";
        };
    }
}
