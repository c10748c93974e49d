import type { RequestHandler } from "express";
import { queryOf } from "../../api/answer.js";
import { detectionParameters } from "../../api/detection.js";
import { parameterReader } from "../../api/parameters.js";
import { detectionResponse } from "../../api/schemas/detection.js";
import type { Windows } from "../../api/windows.js";
import { withoutEmpty } from "../board/board-route.js";
import { answerPage } from "../page-answer.js";
import type { Rendered } from "../rendered.js";
import { dataOf } from "../snapshot-data.js";
import { detectionPage } from "./detection-page.js";

export function detectionPageRoute(windows: Windows, rendered: Rendered): RequestHandler {
  const read = parameterReader(detectionParameters);
  return async (request, response) => {
    const { days } = read(withoutEmpty(queryOf(request)));
    const snapshot = await windows.detection(days);
    const body = rendered(`detection ${days}`, [snapshot], () =>
      detectionPage({ data: dataOf(detectionResponse, snapshot) }),
    );
    await answerPage(response, body);
  };
}
