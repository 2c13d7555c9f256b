package io.verbena.memory.checkpoint;

/** Takes which chunks a restoration uses, and for what. */
public interface ChunkUse
{
    /**
     * An index is in this chunk.
     *
     * @param chunk its number, from 0.
     * @param group of memory nodes whose index it is, or 0: of this memory node alone.
     */
    void index(int chunk, int group);

    /**
     * Blocks are in this chunk.
     *
     * @param chunk its number, from 0.
     * @param group of memory nodes whose blocks they are, or 0: of this memory node alone.
     */
    void blocks(int chunk, int group);
}
