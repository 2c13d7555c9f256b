package io.verbena.compute.figures;

import io.verbena.table.allocation.HeldRange;

import java.util.List;

/**
 * Memory that a compute node holds at all memory nodes, at one instant.
 *
 * @param held         every range.
 * @param isReclaiming whether it reclaims chunks, or will at once.
 * @param unknownBytes blocks of which it does not know whether a word names them, in its present registration.
 * @param leftBytes    blocks it let go of because their chunks were closed, in its present registration.
 * @param reclaimed    what its reclamation did, for people.
 */
public record NodeSpace(
    List<HeldRange> held, boolean isReclaiming, long unknownBytes, long leftBytes, String reclaimed)
{
}
