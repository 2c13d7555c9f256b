package io.verbena.elle.history;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32C;

import static io.verbena.elle.history.HistoryFileDescriptor.*;

/** The file of a recording: blocks one behind the other, written by many threads at once, each with its own buffer. */
final class HistoryFile implements Closeable
{
    private final FileChannel channel;
    private final AtomicLong fileLength = new AtomicLong(FILE_HEADER_LENGTH);

    private HistoryFile(final FileChannel channel)
    {
        this.channel = channel;
    }

    /** Makes the file with its header, or replaces one. */
    static HistoryFile create(final Path file) throws IOException
    {
        final FileChannel channel = FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING);
        final ByteBuffer header = ByteBuffer.allocate(FILE_HEADER_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
        header.putLong(MAGIC_OFFSET, MAGIC).putInt(VERSION_OFFSET, VERSION);
        channel.write(header, 0);
        return new HistoryFile(channel);
    }

    static ByteBuffer newBlock(final int length)
    {
        return ByteBuffer.allocateDirect(length).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Fills the header in, and writes the block where no other thread writes. */
    void writeBlock(
        final ByteBuffer block,
        final int payloadBytes,
        final int kind,
        final int count,
        final int lane,
        final int sequence,
        final CRC32C checksum) throws IOException
    {
        block.putInt(BLOCK_MAGIC_OFFSET, BLOCK_MAGIC);
        block.putInt(BLOCK_KIND_OFFSET, kind);
        block.putInt(BLOCK_PAYLOAD_BYTES_OFFSET, payloadBytes);
        block.putInt(BLOCK_COUNT_OFFSET, count);
        block.putInt(BLOCK_LANE_OFFSET, lane);
        block.putInt(BLOCK_SEQUENCE_OFFSET, sequence);
        block.putInt(BLOCK_RESERVED_OFFSET, 0);
        final int length = BLOCK_HEADER_LENGTH + payloadBytes;
        block.putInt(BLOCK_CHECKSUM_OFFSET, checksumOf(block, length, checksum));
        block.position(0).limit(length);
        long position = fileLength.getAndAdd(length);
        while (block.hasRemaining())
        {
            position += channel.write(block, position);
        }
        block.clear();
    }

    static int checksumOf(final ByteBuffer block, final int length, final CRC32C checksum)
    {
        checksum.reset();
        block.position(0).limit(BLOCK_CHECKSUM_OFFSET);
        checksum.update(block);
        block.limit(length).position(BLOCK_HEADER_LENGTH);
        checksum.update(block);
        return (int)checksum.getValue();
    }

    @Override
    public void close() throws IOException
    {
        channel.close();
    }
}
