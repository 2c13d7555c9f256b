package io.verbena.memory;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.table.allocation.ChunkView;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.SuperblockDescriptor;
import org.agrona.concurrent.UnsafeBuffer;

import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.List;

/** Who uses which chunk of which memory node, as the users believe it; and what the chunk headers show. */
final class MirroredLedger implements AutoCloseable
{
    private final SimControlPlane plane;
    private final PeerIdentity[][] users;
    private final Arena arena = Arena.ofConfined();
    private final UnsafeBuffer headers;
    private final int chunks;
    private final long headersOffset;
    private String violation;

    MirroredLedger(final SimControlPlane plane)
    {
        this.plane = plane;
        chunks = plane.memoryNodes.getFirst().stat().chunkCount();
        headersOffset = SuperblockDescriptor.SPACE_BYTES + (long)chunks * SimControlPlane.CHUNK_LENGTH_BYTES;
        users = new PeerIdentity[plane.memoryNodes.size()][chunks];
        final int lengthBytes = chunks * ChunkDescriptor.HEADER_BYTES;
        headers = new UnsafeBuffer(arena.allocate(lengthBytes, Long.BYTES).address(), lengthBytes);
    }

    int chunks()
    {
        return chunks;
    }

    int index(final long offset)
    {
        return (int)((offset - SuperblockDescriptor.SPACE_BYTES) / SimControlPlane.CHUNK_LENGTH_BYTES);
    }

    /** @return place of a memory node by its id. */
    int place(final int nodeId)
    {
        for (int i = 0; i < plane.memoryNodes.size(); i++)
        {
            if (plane.memoryNodes.get(i).nodeId() == nodeId)
            {
                return i;
            }
        }
        throw new IllegalArgumentException("no memory node " + nodeId);
    }

    void take(final int[] nodes, final int index, final PeerIdentity user)
    {
        for (final int node : nodes)
        {
            final PeerIdentity other = users[node][index];
            if (null != other && plane.metaServer.isKnown(other))
            {
                violation = "chunk " + index + " of memory node " + plane.memoryNodes.get(node).nodeId() +
                    " is used by " + other + ", and leased to " + user;
            }
            users[node][index] = user;
        }
    }

    void release(final int[] nodes, final int index, final PeerIdentity user)
    {
        for (final int node : nodes)
        {
            if (user.equals(users[node][index]))
            {
                users[node][index] = null;
            }
        }
    }

    /** @return what was seen that must not be, or null. */
    String violation()
    {
        return violation;
    }

    List<ChunkView> views(final int[] nodes)
    {
        return Arrays.stream(nodes).mapToObj(this::view).toList();
    }

    private ChunkView view(final int node)
    {
        final ChunkView view = new ChunkView(new Superblock(1, 1, SimControlPlane.REGION_LENGTH_BYTES,
            SuperblockDescriptor.SPACE_BYTES, SimControlPlane.CHUNK_LENGTH_BYTES, chunks, headersOffset));
        plane.memoryNodes.get(node).readRegion(headersOffset, headers, headers.capacity());
        for (int i = 0; i < chunks; i++)
        {
            view.read(i, headers, i * ChunkDescriptor.HEADER_BYTES);
        }
        return view;
    }

    boolean isIndex(final int node, final int index)
    {
        return ChunkDescriptor.STATE_INDEX == view(node).state(index);
    }

    /** @return chunks of all memory nodes that are not free. */
    int taken()
    {
        return plane.memoryNodes.stream().mapToInt((node) -> chunks - node.stat().freeChunkCount()).sum();
    }

    @Override
    public String toString()
    {
        final StringBuilder text = new StringBuilder();
        for (int node = 0; node < users.length; node++)
        {
            final ChunkView view = view(node);
            text.append("node ").append(plane.memoryNodes.get(node).nodeId()).append(':');
            for (int i = 0; i < chunks; i++)
            {
                if (ChunkDescriptor.STATE_FREE != view.state(i))
                {
                    text.append(' ').append(i).append('=').append(ChunkDescriptor.stateName(view.state(i)))
                        .append('/').append(view.group(i)).append('/').append(view.groupCount(i));
                }
            }
            text.append('\n');
        }
        return text.toString();
    }

    @Override
    public void close()
    {
        arena.close();
    }
}
