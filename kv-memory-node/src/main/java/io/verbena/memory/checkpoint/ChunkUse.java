package io.verbena.memory.checkpoint;

/** Takes which chunks a restoration uses, and for what. */
public interface ChunkUse
{
    /**
     * An index is in this chunk.
     *
     * @param chunk its number, from 0.
     */
    void index(int chunk);

    /**
     * Blocks are in this chunk.
     *
     * @param chunk its number, from 0.
     */
    void blocks(int chunk);
}
