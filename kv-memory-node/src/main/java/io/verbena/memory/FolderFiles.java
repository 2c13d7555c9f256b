package io.verbena.memory;

import io.verbena.memory.checkpoint.CheckpointStore;

import java.io.IOException;
import java.util.Set;

/**
 * The files of a memory node's folder that a crash must not tear, one step of the disk at a time. What was written is
 * certain to outlive the host only behind {@link #write} and, for names, {@link #syncNames}. Not thread-safe.
 */
interface FolderFiles
{
    /** Name of the folder of checkpoints. */
    String CHECKPOINT = "checkpoint";
    /** The same of a group of memory nodes, whose number follows. */
    String GROUP_CHECKPOINT = CHECKPOINT + "-group-";

    /** Whether a file is there. */
    boolean exists(String name);

    /** All of a file. */
    byte[] read(String name) throws IOException;

    /** Replaces what is in a file; its bytes are on disk when this returns, its name may not be. */
    void write(String name, byte[] bytes) throws IOException;

    /** Gives a file another name, in the place of one that has it. */
    void rename(String from, String to) throws IOException;

    /** Names are on disk when this returns. */
    void syncNames() throws IOException;

    /** Removes a file; whether it was there. */
    boolean delete(String name) throws IOException;

    /** The checkpoint, or that of a group, made when absent; closed by the caller. */
    CheckpointStore openCheckpoint(String name);

    /** Groups that have a checkpoint here, complete or not; a new set, ascending. */
    Set<Integer> groupCheckpoints() throws IOException;

    /** Removes a checkpoint that nobody has open; what is left when the process ends over it is no checkpoint. */
    void removeCheckpoint(String name) throws IOException;
}
