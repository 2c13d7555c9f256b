package io.verbena.protocol.view;

/**
 * The newest view of a group that a compute node has left: it posts nothing under that view, nor under those before,
 * and answers nothing that was posted under them.
 *
 * @param group  which; 1 or more.
 * @param number of the view; 0 when it has left none.
 */
public record LeftView(int group, long number)
{
}
